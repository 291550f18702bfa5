"""Beam sampling (meister2021 §5): a stochastic beam.

Each of the k sequences of a beam is extended by k tokens, drawn from the model's own distribution. Of all sequences
that are there then, those that had ended before included, the k most probable stay; equal ones count once. The most
probable one is the sample as soon as it has ended: probabilities only fall, so that none can overtake it. The paper
says neither which of the k sequences is the sample nor when to stop; sequences are not weighed by their length.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.systems.language_model.decoding import invert
from macroscope.systems.language_model.options import BeamSampling
from macroscope.systems.language_model.sampler import Draw, Request, Sampler

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


class BeamSampler(Sampler):
    """Samples under `BeamSampling`; the rows of a batch are shared out among beams."""

    @torch.inference_mode()
    def run(self, requests: deque[Request]) -> Iterator[Draw]:
        """Work off a queue of requests; see `Sampler.run`."""
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
            drawing = [(start, beam) for start, beam in busy if not beam.follow_prompt()]
            for start, beam in drawing:
                uniforms[start + beam.rows] = beam.generator.random((len(beam.live), k))
            tokens = invert(probabilities, torch.from_numpy(uniforms).to(probabilities.device))
            found = probabilities.gather(-1, tokens).log().cpu().numpy()
            drawn = tokens.cpu().numpy()
            for start, beam in drawing:
                copies = beam.extend(drawn[start + beam.rows], found[start + beam.rows])
                if (draw := beam.draw()) is not None:
                    beams[start // k] = None
                    yield draw
                    continue
                for source, target in copies:
                    decoder.copy_row(start + source, start + target, int(cached[start]))


@dataclass(frozen=True)
class _Sequence:
    """The beginning of a document: its last token, and the beginning before that."""

    token: int
    before: "_Sequence | None" = None
    log_probability: float = 0.0

    def tokens(self) -> NDArray[np.int32]:
        """Return all tokens, the boundary before them included."""
        found, sequence = [], self
        while sequence.before is not None:
            found.append(sequence.token)
            sequence = sequence.before
        return np.array([sequence.token, *reversed(found)], dtype=np.int32)


class _Beam:
    """At most k sequences of one draw, the most probable first; those that have ended are not extended.

    Each that is extended has one of the k rows. Its most probable continuation stays in that row, so that few rows are
    copied.
    """

    def __init__(self, request: Request, sampler: Sampler, k: int) -> None:
        self.request, self.k = request, k
        self.generator = sampler.generator(request)
        self.boundary, self.max_tokens = sampler.boundary, sampler.max_tokens
        self.live = [_Sequence(sampler.boundary)]
        self.rows: Integers = np.zeros(1, dtype=np.int64)
        self.ended: list[_Sequence] = []
        self.length = 0

    def follow_prompt(self) -> bool:
        """Take the next token of the prompt, if there is one; the sequences of a beam share it, so it is not scored."""
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
            live sequences x k: tokens that were drawn, and their log-probabilities.

        Returns
        -------
        (source, target): rows to copy, so that every row holds what its sequence extends.
        """
        drawn = {
            (row, token): _Sequence(token, sequence, sequence.log_probability + log)
            for row, sequence, some, their in zip(
                self.rows.tolist(), self.live, tokens.tolist(), logs.tolist(), strict=True
            )
            for token, log in zip(some, their, strict=True)
        }
        everything = [(None, sequence) for sequence in self.ended] + [(row, s) for (row, _), s in drawn.items()]
        everything.sort(key=lambda item: -item[1].log_probability)
        kept = everything[: self.k]
        self.ended = [s for row, s in kept if row is None or s.token == self.boundary]
        live = [(row, s) for row, s in kept if row is not None and s.token != self.boundary]
        self.live = [sequence for _, sequence in live]
        self.length += 1
        return self._place([row for row, _ in live])

    def _place(self, parents: list[int]) -> list[tuple[int, int]]:
        """Give every live sequence a row; `parents` are those of the sequences that they extend."""
        free = [row for row in range(self.k) if row not in parents]
        rows: list[int] = []
        for parent in parents:
            rows.append(free.pop() if parent in rows else parent)
        self.rows = np.array(rows, dtype=np.int64)
        return [(parent, row) for parent, row in zip(parents, rows, strict=True) if parent != row]

    def draw(self) -> Draw | None:
        """Return the sample, if there is one yet."""
        best = max([*self.ended, *self.live], key=lambda sequence: sequence.log_probability)
        ended = best.before is not None and best.token == self.boundary
        if not ended and self.length < self.max_tokens:
            return None
        tokens = best.tokens()[1:]
        return Draw(self.request, tokens[:-1] if ended else tokens, cut=not ended)
