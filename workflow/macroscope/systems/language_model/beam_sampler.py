"""Beam sampling (meister2021 §5): a stochastic beam.

Each of the k sequences of a beam is extended by k tokens, drawn from the model's own distribution. Among these and the
sequences that had ended before, the k most probable ones are kept; duplicates count once. The most probable one is the
sample as soon as it has ended: probabilities only decrease, so that none can overtake it. The paper specifies neither
which of the k sequences is the sample nor when to stop; sequences are not weighted by their length.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.systems.language_model.decoding import invert
from macroscope.systems.language_model.options import BeamSampling
from macroscope.systems.language_model.sampler import GeneratedTokens, Request, Sampler

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


class BeamSampler(Sampler):
    """Sampler for the decoding rule `BeamSampling`; the rows of a batch are divided among beams."""

    @torch.inference_mode()
    def run(self, requests: deque[Request]) -> Iterator[GeneratedTokens]:
        """Process a queue of requests; see `Sampler.run`."""
        assert isinstance(self.decoding, BeamSampling)
        k = self.decoding.beams
        beams: list[_Beam | None] = [None] * max(1, self.batch_size // k)
        cached = np.zeros(len(beams) * k, dtype=np.int64)
        decoder = self.decoder()
        while True:
            for place, beam in enumerate(beams):
                if beam is None:
                    cached[place * k : (place + 1) * k] = 0
                    if requests:
                        beams[place] = _Beam(requests.popleft(), self, k)
            busy = [(place * k, beam) for place, beam in enumerate(beams) if beam is not None]
            if not busy:
                return
            last = np.full(len(cached), self.boundary, dtype=np.int32)
            for start, beam in busy:
                last[start + beam.rows] = [sequence.token for sequence in beam.live]
                if cached[start] + 1 > self.columns:
                    for row, sequence in zip(beam.rows, beam.live, strict=True):
                        decoder.encode(start + int(row), self.kept(sequence.tokens()))
                    cached[start : start + k] = len(self.kept(beam.live[0].tokens()))
            probabilities = decoder.step(last, cached).double().softmax(-1)
            cached += 1
            uniforms = np.zeros((len(cached), k))
            sampling = [(start, beam) for start, beam in busy if not beam.follow_prompt()]
            for start, beam in sampling:
                uniforms[start + beam.rows] = beam.generator.random((len(beam.live), k))
            tokens = invert(probabilities, torch.from_numpy(uniforms).to(probabilities.device))
            logs = probabilities.gather(-1, tokens).log().cpu().numpy()
            sampled = tokens.cpu().numpy()
            for start, beam in sampling:
                copies = beam.extend(sampled[start + beam.rows], logs[start + beam.rows])
                if (result := beam.result()) is not None:
                    beams[start // k] = None
                    yield result
                    continue
                for source, target in copies:
                    decoder.copy_row(start + source, start + target, int(cached[start]))


@dataclass(frozen=True)
class _Sequence:
    """Beginning of a document as a linked list: its last token and the beginning before it."""

    token: int
    before: "_Sequence | None" = None
    log_probability: float = 0.0

    def tokens(self) -> NDArray[np.int32]:
        """Return all tokens, including the boundary before them."""
        reversed_tokens, sequence = [], self
        while sequence.before is not None:
            reversed_tokens.append(sequence.token)
            sequence = sequence.before
        return np.array([sequence.token, *reversed(reversed_tokens)], dtype=np.int32)


class _Beam:
    """At most k sequences for one request, the most probable first; ended sequences are not extended.

    Each live sequence has one of the k rows. Its most probable continuation stays in that row, so that few rows are
    copied.
    """

    def __init__(self, request: Request, sampler: Sampler, k: int) -> None:
        self.request, self.k = request, k
        self.generator = sampler.generator(request)
        self.ends, self.max_tokens = sampler.ends, sampler.max_tokens
        self.live = [_Sequence(sampler.boundary)]
        self.rows: Integers = np.zeros(1, dtype=np.int64)
        self.ended: list[_Sequence] = []
        self.length = 0

    def follow_prompt(self) -> bool:
        """Append the next token of the prompt, if any; it is not scored, because all sequences of a beam share it.

        Returns
        -------
        Whether there was such a token.
        """
        if self.length >= len(self.request.prompt):
            return False
        self.live = [_Sequence(self.request.prompt[self.length], self.live[0])]
        self.length += 1
        return True

    def extend(self, tokens: Integers, logs: Reals) -> list[tuple[int, int]]:
        """Extend every live sequence; keep the k most probable ones.

        Parameters
        ----------
        tokens, logs
            Drawn tokens and their log-probabilities: live sequences x k.

        Returns
        -------
        Pairs (source, target) of rows to copy, so that every row holds the parent of its sequence.
        """
        extended = {
            (row, token): _Sequence(token, sequence, sequence.log_probability + log)
            for row, sequence, row_tokens, row_logs in zip(
                self.rows.tolist(), self.live, tokens.tolist(), logs.tolist(), strict=True
            )
            for token, log in zip(row_tokens, row_logs, strict=True)
        }
        candidates = [(None, sequence) for sequence in self.ended] + [(row, s) for (row, _), s in extended.items()]
        candidates.sort(key=lambda item: -item[1].log_probability)
        kept = candidates[: self.k]
        self.ended = [s for row, s in kept if row is None or s.token in self.ends]
        live = [(row, s) for row, s in kept if row is not None and s.token not in self.ends]
        self.live = [sequence for _, sequence in live]
        self.length += 1
        return self._assign_rows([row for row, _ in live])

    def _assign_rows(self, parents: list[int]) -> list[tuple[int, int]]:
        """Assign a row to every live sequence, given the rows of their parents; return the rows to copy."""
        free = [row for row in range(self.k) if row not in parents]
        rows: list[int] = []
        for parent in parents:
            rows.append(free.pop() if parent in rows else parent)
        self.rows = np.array(rows, dtype=np.int64)
        return [(parent, row) for parent, row in zip(parents, rows, strict=True) if parent != row]

    def result(self) -> GeneratedTokens | None:
        """Return the sample, or None if it is not finished."""
        best = max([*self.ended, *self.live], key=lambda sequence: sequence.log_probability)
        ended = best.before is not None and best.token in self.ends
        if not ended and self.length < self.max_tokens:
            return None
        tokens = best.tokens()[1:]
        return GeneratedTokens(self.request, tokens[:-1] if ended else tokens, best.token if ended else None)
