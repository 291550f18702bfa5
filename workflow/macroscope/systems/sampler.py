"""Ancestral sampling of whole documents, in a batch that never waits for its longest member.

A finished sequence leaves its row and a new one enters. Every draw has a random generator of its own, one uniform
number a token, and the arithmetic of a row does not depend on the others (see `cache`): the same draw gives the same
document in whatever batch or shard it is made.
"""

import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.cache_utils import DynamicCache

from macroscope.errors import MacroscopeError
from macroscope.systems.cache import RollingCache
from macroscope.systems.decoding import distribution, invert
from macroscope.systems.options import Decoding

UNIFORMS = 256
"""Random numbers that a row fetches at a time."""


@dataclass(frozen=True)
class Request:
    """The `attempt`-th draw for the sample of number `index`."""

    index: int
    attempt: int = 0


@dataclass(frozen=True)
class Draw:
    """A finished draw: its tokens without the boundary, and whether it was cut at the longest length."""

    request: Request
    tokens: NDArray[np.int32]
    cut: bool


class Sampler:
    """Samples documents from a causal language model.

    Parameters
    ----------
    model
        A causal model of transformers, in eval mode.
    boundary
        Token that begins and ends every document.
    context
        W, the context window in tokens.
    stride
        Where the next context would be longer than W - 1 tokens, only the last W - stride are kept and encoded again;
        contexts then range over W - stride ... W - 1 tokens. 1 is the paper's way: the last W - 1 tokens are encoded
        again for every token.
    batch_size
        Rows that are sampled at the same time. It is part of the arithmetic: another one may round differently.
    max_tokens
        A document that has not ended by then is cut.
    seed, stream
        Seed, and a name that sets the random numbers of this sampler apart from those of others.
    """

    def __init__(
        self,
        model: Any,
        boundary: int,
        *,
        context: int,
        stride: int,
        batch_size: int,
        max_tokens: int,
        decoding: Decoding,
        seed: int,
        stream: str = "",
    ) -> None:
        if not 1 <= stride < context:
            raise MacroscopeError(
                f"stride: {stride} is not between 1 and {context - 1}; it must be smaller than the context window"
            )
        self.model, self.boundary = model, boundary
        self.context, self.stride, self.batch_size, self.max_tokens = context, stride, batch_size, max_tokens
        self.decoding, self.seed, self.stream = decoding, seed, zlib.crc32(stream.encode())
        self.columns = context - 1

    @torch.inference_mode()
    def run(self, requests: deque[Request]) -> Iterator[Draw]:
        """Work off a queue of requests; whoever consumes the draws may add to the queue meanwhile.

        Yields
        ------
        Draw
            In the order in which they end, which depends on the batch; their contents do not.
        """
        rows = _Rows(self.batch_size, self.max_tokens, self.boundary)
        cache = RollingCache(self.model.config.num_hidden_layers, self.columns)
        while True:
            for row in rows.idle():
                if requests:
                    rows.start(row, requests.popleft(), self._generator)
            if not rows.busy.any():
                return
            for full in np.flatnonzero(rows.busy & (rows.cached + 1 > self.columns)):
                self._slide(rows, cache, int(full))
            tokens = self._step(rows, cache)
            for row in rows.append(tokens):
                yield rows.finish(row)

    def _generator(self, request: Request) -> np.random.Generator:
        key = (self.stream, request.index, request.attempt)
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)))

    def _step(self, rows: "_Rows", cache: RollingCache) -> NDArray[np.int64]:
        """Feed the last token of every row; draw the next one."""
        device = self.model.device
        inputs = torch.from_numpy(rows.last.astype(np.int64))[:, None].to(device)
        positions = torch.from_numpy(rows.cached.astype(np.int64))[:, None].to(device)
        rows.cached += 1
        logits = self.model(
            input_ids=inputs,
            attention_mask=self._mask(rows.cached),
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
        ).logits[:, -1]
        uniforms = torch.from_numpy(rows.uniforms()).to(device)
        return invert(distribution(logits, self.decoding), uniforms).cpu().numpy()

    def _mask(self, lengths: NDArray[np.int64]) -> torch.Tensor:
        """Additive mask, rows x 1 x 1 x columns: each row sees its own last columns.

        Four dimensions, so that transformers takes the mask as it is. A two-dimensional one it leaves out where all
        rows happen to be full, and the arithmetic of a row would depend on the others again.
        """
        dtype, device = self.model.dtype, self.model.device
        hidden = torch.arange(self.columns) < self.columns - torch.from_numpy(lengths)[:, None]
        mask = torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)
        return mask[:, None, None].to(device)

    def _slide(self, rows: "_Rows", cache: RollingCache, row: int) -> None:
        """Drop the oldest tokens of a row and encode the rest anew, all but the last one.

        One row at a time, at a length that is always the same, for the sake of the same arithmetic in every batch.
        """
        kept = rows.tail(row, self.context - self.stride)[:-1]
        rows.cached[row] = len(kept)
        if len(kept) == 0:
            return
        encoded = DynamicCache()
        inputs = torch.from_numpy(kept.astype(np.int64))[None].to(self.model.device)
        backbone = getattr(self.model, self.model.base_model_prefix, self.model)
        backbone(input_ids=inputs, past_key_values=encoded, use_cache=True)
        cache.write_row(row, encoded)


class _Rows:
    """State of the rows of a batch: what each has drawn, and where its random numbers come from."""

    def __init__(self, rows: int, max_tokens: int, boundary: int) -> None:
        self.boundary, self.max_tokens = boundary, max_tokens
        self.tokens = np.full((rows, max_tokens + 1), boundary, dtype=np.int32)
        self.length = np.ones(rows, dtype=np.int64)
        self.cached = np.zeros(rows, dtype=np.int64)
        self.busy = np.zeros(rows, dtype=bool)
        self.requests: list[Request | None] = [None] * rows
        self._generators: list[np.random.Generator | None] = [None] * rows
        self._numbers = np.zeros((rows, UNIFORMS))
        self._used = np.zeros(rows, dtype=np.int64)

    @property
    def last(self) -> NDArray[np.int32]:
        return self.tokens[np.arange(len(self.length)), self.length - 1]

    def idle(self) -> list[int]:
        """Rows without a draw; they feed a lone boundary token."""
        idle = np.flatnonzero(~self.busy)
        self.length[idle], self.cached[idle] = 1, 0
        return idle.tolist()

    def start(self, row: int, request: Request, generator: Any) -> None:
        self.requests[row], self._generators[row] = request, generator(request)
        self.busy[row], self._used[row] = True, UNIFORMS

    def uniforms(self) -> NDArray[np.float64]:
        """The next random number of every row."""
        for row in np.flatnonzero(self.busy & (self._used == UNIFORMS)):
            generator = self._generators[row]
            assert generator is not None
            self._numbers[row], self._used[row] = generator.random(UNIFORMS), 0
        found = self._numbers[np.arange(len(self._used)), np.minimum(self._used, UNIFORMS - 1)]
        self._used += self.busy
        return found

    def append(self, tokens: NDArray[np.int64]) -> list[int]:
        """Add a token to every busy row; returns the rows whose documents end."""
        busy = np.flatnonzero(self.busy)
        self.tokens[busy, self.length[busy]] = tokens[busy]
        self.length[busy] += 1
        ended = (tokens[busy] == self.boundary) | (self.length[busy] > self.max_tokens)
        return busy[ended].tolist()

    def finish(self, row: int) -> Draw:
        request = self.requests[row]
        assert request is not None
        tokens = self.tokens[row, 1 : self.length[row]]
        cut = bool(tokens[-1] != self.boundary)
        self.busy[row], self.requests[row], self._generators[row] = False, None, None
        return Draw(request, tokens.copy() if cut else tokens[:-1].copy(), cut)

    def tail(self, row: int, tokens: int) -> NDArray[np.int32]:
        """Return the last tokens of a row."""
        return self.tokens[row, max(0, self.length[row] - tokens) : self.length[row]]
