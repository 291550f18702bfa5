"""Base class of samplers, which generate whole documents from a causal language model under a decoding rule.

Every request has its own random generator, and the arithmetic of a row does not depend on the other rows (see
`attention`): the same request gives the same document in any batch or shard.

When a document is finished, the next request takes its row. Each sampled token uses one uniform random number. The
tokens of a prompt are fed one by one like sampled tokens, and use no random number.
"""

import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.decoding import distribution, invert
from macroscope.systems.language_model.model import Decoder, StateDecoder
from macroscope.systems.language_model.options import BeamSampling, Decoding


@dataclass(frozen=True)
class Request:
    """Request for the `attempt`-th version of sample number `index`, which begins with the tokens of its prompt."""

    index: int
    attempt: int = 0
    prompt: tuple[int, ...] = ()


@dataclass(frozen=True)
class GeneratedTokens:
    """Result of a request: tokens, with prompt and without end, and the token that ended them.

    The end is None if they were cut at the longest length.
    """

    request: Request
    tokens: NDArray[np.int32]
    end: int | None

    @property
    def cut(self) -> bool:
        """Return whether the tokens were cut at the longest length."""
        return self.end is None


@dataclass(frozen=True)
class Window:
    """Tokens `start` to `stop` (exclusive) of a document; those from `first` on were generated given this window."""

    start: int
    first: int
    stop: int


class Sampler(ABC):
    """Generator of documents from a causal language model.

    Parameters
    ----------
    model
        Causal model of transformers, or a `RecurrentLM`, in eval mode.
    boundary
        Token that begins every document, and ends it.
    ends
        Further tokens that end a document (`systems.tokenizer.end_ids`).
    context
        W, the context window in tokens; a `RecurrentLM` has none.
    stride
        Tokens by which a full window moves. When a context would exceed W - 1 tokens, only the last W - stride are kept
        and encoded again, so contexts have W - stride ... W - 1 tokens. With 1, as in the paper, the last W - 1 tokens
        are encoded again for every token.
    batch_size
        Number of rows that are sampled in parallel. It affects the arithmetic: another size may round differently.
    max_tokens
        Longest document in tokens, including its prompt, which must be shorter; longer documents are cut.
    decoding
        Decoding rule.
    seed, stream
        Seed, and a name that separates the random stream of this sampler from those of others.

    Raises
    ------
    MacroscopeError
        If the stride is not smaller than the context window.
    """

    def __init__(
        self,
        model: Any,
        boundary: int,
        *,
        ends: Iterable[int] = (),
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
                f"stride: {stride} is not between 1 and {context - 1}; set it to less than the context window"
            )
        self.model, self.boundary, self.ends = model, boundary, frozenset({boundary, *ends})
        self.context, self.stride, self.batch_size, self.max_tokens = context, stride, batch_size, max_tokens
        self.decoding, self.seed, self.stream = decoding, seed, zlib.crc32(stream.encode())
        # A recurrent model has no window that could be full.
        self.has_window = not isinstance(model, RecurrentLM)
        self.columns = min(context - 1, max_tokens + 1) if self.has_window else max_tokens + 1

    @abstractmethod
    def run(self, requests: deque[Request]) -> Iterator[GeneratedTokens]:
        """Process a queue of requests; the consumer may add requests to the queue meanwhile.

        Yields
        ------
        GeneratedTokens
            Results in the order in which they end. Their order depends on the batch; their contents do not.
        """

    def generator(self, request: Request) -> np.random.Generator:
        """Return the random generator of a request."""
        key = (self.stream, request.index, request.attempt)
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)))

    def decoder(self) -> Decoder | StateDecoder:
        """Return a new decoder."""
        return Decoder(self.model, self.columns).speed_up() if self.has_window else StateDecoder(self.model)

    def kept(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tokens that a row with a full window keeps, excluding the last one, which is fed next."""
        return tokens[-(self.context - self.stride) : -1]

    def windows(self, length: int) -> Iterator[Window]:
        """Yield the windows in which a document of `length` tokens, including the first boundary, is generated.

        Every token but the first is generated in exactly one window, given the tokens before it in that window.
        """
        if not self.has_window:
            yield Window(0, 1, length)
            return
        yield Window(0, 1, min(self.context, length))
        for start in range(self.stride, length - self.context + self.stride, self.stride):
            yield Window(start, start - self.stride + self.context, min(start + self.context, length))


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
