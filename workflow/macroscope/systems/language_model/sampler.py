"""What all samplers are: they draw whole documents from a causal language model, whatever the decoding rule.

Every draw has a random generator of its own, and the arithmetic of a row does not depend on the others (see `cache`):
the same draw gives the same document in whatever batch or shard it is made.
"""

import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.decoder import Decoder, StateDecoder
from macroscope.systems.language_model.options import Decoding


@dataclass(frozen=True)
class Request:
    """The `attempt`-th draw for the sample of number `index`, which begins with the tokens of its prompt."""

    index: int
    attempt: int = 0
    prompt: tuple[int, ...] = ()


@dataclass(frozen=True)
class Draw:
    """A finished draw: its tokens (prompt included, boundary not), and whether it was cut at the longest length."""

    request: Request
    tokens: NDArray[np.int32]
    cut: bool


@dataclass(frozen=True)
class Window:
    """Tokens `start` to `stop` (not included) of a document, of which those from `first` on are drawn in view of it."""

    start: int
    first: int
    stop: int


class Sampler(ABC):
    """Samples documents from a causal language model.

    Parameters
    ----------
    model
        A causal model of transformers, or a `RecurrentLM`, in eval mode.
    boundary
        Token that begins and ends every document.
    context
        W, the context window in tokens; a `RecurrentLM` has none.
    stride
        Where the next context would be longer than W - 1 tokens, only the last W - stride are kept and encoded again;
        contexts then range over W - stride ... W - 1 tokens. 1 is the paper's way: the last W - 1 tokens are encoded
        again for every token.
    batch_size
        Rows that are sampled at the same time. It is part of the arithmetic: another one may round differently.
    max_tokens
        A document that has not ended by then is cut; prompts count, and are shorter.
    decoding
        The rule.
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
        # A state that is carried from token to token has no window that could be full.
        self.has_window = not isinstance(model, RecurrentLM)
        self.columns = context - 1 if self.has_window else max_tokens + 1

    @abstractmethod
    def run(self, requests: deque[Request]) -> Iterator[Draw]:
        """Work off a queue of requests; whoever consumes the draws may add to the queue meanwhile.

        Yields
        ------
        Draw
            In the order in which they end, which depends on the batch; their contents do not.
        """

    def generator(self, request: Request) -> np.random.Generator:
        """Random numbers of a draw."""
        key = (self.stream, request.index, request.attempt)
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)))

    def decoder(self) -> Decoder | StateDecoder:
        """Return a decoder that has seen nothing."""
        return Decoder(self.model, self.columns).speed_up() if self.has_window else StateDecoder(self.model)

    def kept(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return what a row whose window is full still sees of its tokens, the last of which comes next."""
        return tokens[-(self.context - self.stride) : -1]

    def windows(self, length: int) -> Iterator[Window]:
        """Yield what is seen of a document of `length` tokens, the boundary before them included.

        Every token but the first is drawn in exactly one window, from what stands before it there.
        """
        if not self.has_window:
            yield Window(0, 1, length)
            return
        yield Window(0, 1, min(self.context, length))
        for start in range(self.stride, length - self.context + self.stride, self.stride):
            yield Window(start, start - self.stride + self.context, min(start + self.context, length))
