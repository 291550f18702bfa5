"""Sampling token by token, in a batch that never waits for its longest document.

When a document is finished, the next request takes its row. Each sampled token uses one uniform random number. The
tokens of a prompt are fed one by one like sampled tokens, and use no random number.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.systems.language_model.decoding import distribution, invert
from macroscope.systems.language_model.options import BeamSampling
from macroscope.systems.language_model.sampler import GeneratedTokens, Request, Sampler

UNIFORMS = 256
"""Number of random numbers that a row fetches at a time."""


class TokenSampler(Sampler):
    """Sampler for decoding rules that sample one token at a time, that is, all but beam sampling."""

    @torch.inference_mode()
    def run(self, requests: deque[Request]) -> Iterator[GeneratedTokens]:
        """Process a queue of requests; see `Sampler.run`."""
        assert not isinstance(self.decoding, BeamSampling)
        rows = _Rows(self.batch_size, self.max_tokens, self.boundary, self.ends)
        decoder = self.decoder()
        while True:
            for row in rows.idle():
                if requests:
                    rows.start(row, requests.popleft(), self.generator)
            if not rows.busy.any():
                return
            for full in np.flatnonzero(rows.busy & (rows.cached + 1 > self.columns)):
                kept = self.kept(rows.document(int(full)))
                decoder.encode(int(full), kept)
                rows.cached[full] = len(kept)
            logits = decoder.step(rows.last, rows.cached)
            rows.cached += 1
            uniforms = torch.from_numpy(rows.uniforms())[:, None].to(logits.device)
            tokens = invert(distribution(logits, self.decoding), uniforms)[:, 0].cpu().numpy()
            for row in rows.append(tokens):
                yield rows.finish(row)


class _Rows:
    """State of the rows of a batch: their tokens, requests and random numbers."""

    def __init__(self, rows: int, max_tokens: int, boundary: int, ends: Iterable[int]) -> None:
        self.ends, self.max_tokens = np.array(sorted(ends)), max_tokens
        self.tokens = np.full((rows, max_tokens + 1), boundary, dtype=np.int32)
        self.length = np.ones(rows, dtype=np.int64)
        self.cached = np.zeros(rows, dtype=np.int64)
        self.busy = np.zeros(rows, dtype=bool)
        self._prompt_lengths = np.zeros(rows, dtype=np.int64)
        self.requests: list[Request | None] = [None] * rows
        self._generators: list[np.random.Generator | None] = [None] * rows
        self._numbers = np.zeros((rows, UNIFORMS))
        self._used = np.zeros(rows, dtype=np.int64)

    @property
    def last(self) -> NDArray[np.int32]:
        return self.tokens[np.arange(len(self.length)), self.length - 1]

    @property
    def given(self) -> NDArray[np.bool_]:
        """Return whether the next token of each row is given by its prompt."""
        return self.busy & (self.length <= self._prompt_lengths)

    def idle(self) -> list[int]:
        """Return the rows without a request; they feed a lone boundary token."""
        idle = np.flatnonzero(~self.busy)
        self.length[idle], self.cached[idle] = 1, 0
        return idle.tolist()

    def start(self, row: int, request: Request, generator: Any) -> None:
        self.requests[row], self._generators[row] = request, generator(request)
        self.busy[row], self._used[row] = True, UNIFORMS
        self._prompt_lengths[row] = len(request.prompt)
        self.tokens[row, 1 : 1 + len(request.prompt)] = request.prompt

    def uniforms(self) -> NDArray[np.float64]:
        """Return the next random number of every row."""
        for row in np.flatnonzero(self.busy & (self._used == UNIFORMS)):
            generator = self._generators[row]
            assert generator is not None
            self._numbers[row], self._used[row] = generator.random(UNIFORMS), 0
        numbers = self._numbers[np.arange(len(self._used)), np.minimum(self._used, UNIFORMS - 1)]
        self._used += self.busy & ~self.given
        return numbers

    def append(self, tokens: NDArray[np.int64]) -> list[int]:
        """Append a token to every busy row, sampled or from its prompt; return the rows whose documents end."""
        sampled = np.flatnonzero(self.busy & ~self.given)
        self.tokens[sampled, self.length[sampled]] = tokens[sampled]
        self.length += self.busy
        ended = np.isin(tokens[sampled], self.ends) | (self.length[sampled] > self.max_tokens)
        return sampled[ended].tolist()

    def finish(self, row: int) -> GeneratedTokens:
        request = self.requests[row]
        assert request is not None
        tokens = self.tokens[row, 1 : self.length[row]]
        self.busy[row], self.requests[row], self._generators[row] = False, None, None
        if tokens[-1] in self.ends:
            return GeneratedTokens(request, tokens[:-1].copy(), int(tokens[-1]))
        return GeneratedTokens(request, tokens.copy(), None)

    def document(self, row: int) -> NDArray[np.int32]:
        """Return the tokens of a row, including the boundary before them."""
        return self.tokens[row, : self.length[row]]
