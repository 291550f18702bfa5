"""Sampling token by token, in a batch that never waits for its longest member.

A finished sequence leaves its row and a new one enters. A draw uses one uniform random number a token. The tokens of a
prompt are fed one by one like those that were drawn, and use none.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.systems.language_model.decoding import distribution, invert
from macroscope.systems.language_model.options import BeamSampling
from macroscope.systems.language_model.sampler import Draw, Request, Sampler

UNIFORMS = 256
"""Random numbers that a row fetches at a time."""


class TokenSampler(Sampler):
    """Samples under a rule that draws one token at a time: all but the beam."""

    @torch.inference_mode()
    def run(self, requests: deque[Request]) -> Iterator[Draw]:
        """Work off a queue of requests; see `Sampler.run`."""
        assert not isinstance(self.decoding, BeamSampling)
        rows = _Rows(self.batch_size, self.max_tokens, self.boundary)
        decoder = self.decoder()
        while True:
            for row in rows.idle():
                if requests:
                    rows.start(row, requests.popleft(), self.generator)
            if not rows.busy.any():
                return
            for full in np.flatnonzero(rows.busy & (rows.cached + 1 > self.columns)):
                kept = self.kept(rows.drawn(int(full)))
                decoder.encode(int(full), kept)
                rows.cached[full] = len(kept)
            logits = decoder.step(rows.last, rows.cached)
            rows.cached += 1
            uniforms = torch.from_numpy(rows.uniforms())[:, None].to(logits.device)
            tokens = invert(distribution(logits, self.decoding), uniforms)[:, 0].cpu().numpy()
            for row in rows.append(tokens):
                yield rows.finish(row)


class _Rows:
    """State of the rows of a batch: what each has drawn, and where its random numbers come from."""

    def __init__(self, rows: int, max_tokens: int, boundary: int) -> None:
        self.boundary, self.max_tokens = boundary, max_tokens
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
        """Whether the next token of a row is its prompt's."""
        return self.busy & (self.length <= self._prompt_lengths)

    def idle(self) -> list[int]:
        """Rows without a draw; they feed a lone boundary token."""
        idle = np.flatnonzero(~self.busy)
        self.length[idle], self.cached[idle] = 1, 0
        return idle.tolist()

    def start(self, row: int, request: Request, generator: Any) -> None:
        self.requests[row], self._generators[row] = request, generator(request)
        self.busy[row], self._used[row] = True, UNIFORMS
        self._prompt_lengths[row] = len(request.prompt)
        self.tokens[row, 1 : 1 + len(request.prompt)] = request.prompt

    def uniforms(self) -> NDArray[np.float64]:
        """The next random number of every row."""
        for row in np.flatnonzero(self.busy & (self._used == UNIFORMS)):
            generator = self._generators[row]
            assert generator is not None
            self._numbers[row], self._used[row] = generator.random(UNIFORMS), 0
        found = self._numbers[np.arange(len(self._used)), np.minimum(self._used, UNIFORMS - 1)]
        self._used += self.busy & ~self.given
        return found

    def append(self, tokens: NDArray[np.int64]) -> list[int]:
        """Add a token to every busy row, its own or its prompt's; returns the rows whose documents end."""
        drawn = np.flatnonzero(self.busy & ~self.given)
        self.tokens[drawn, self.length[drawn]] = tokens[drawn]
        self.length += self.busy
        ended = (tokens[drawn] == self.boundary) | (self.length[drawn] > self.max_tokens)
        return drawn[ended].tolist()

    def finish(self, row: int) -> Draw:
        request = self.requests[row]
        assert request is not None
        tokens = self.tokens[row, 1 : self.length[row]]
        cut = bool(tokens[-1] != self.boundary)
        self.busy[row], self.requests[row], self._generators[row] = False, None, None
        return Draw(request, tokens.copy() if cut else tokens[:-1].copy(), cut)

    def drawn(self, row: int) -> NDArray[np.int32]:
        """Return the tokens of a row, the boundary before them included."""
        return self.tokens[row, : self.length[row]]
