"""The n-grams that a hidden semi-Markov model can write: the most frequent ones of each length (deng2022 Appendix D).

All words are among those of one token, and an unknown one, so that there is a way to write any text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.systems.tokenizer import UNKNOWN

Integers = NDArray[np.signedinteger[Any]]

NONE = -1
"""Row of an n-gram that is not there."""


@dataclass(frozen=True)
class Ngrams:
    """N-grams by their rows: one length after the other, the frequent ones of a length first.

    Attributes
    ----------
    words
        By their numbers; number 0 is `UNKNOWN`, and row 0 is that word alone.
    tokens
        For each length, from 1 on: numbers of their words (n-grams x length).
    """

    words: tuple[str, ...]
    tokens: tuple[Integers, ...]

    @classmethod
    def load(cls, folder: Path) -> "Ngrams":
        """Read what `save` wrote."""
        with np.load(folder / "ngrams.npz") as saved:
            tokens = tuple(saved[f"length_{length}"].astype(np.int64) for length in range(1, len(saved.files) + 1))
        return cls(tuple(read_json(folder / "words.json")), tokens)

    def save(self, folder: Path) -> None:
        """Write words.json and ngrams.npz into a folder."""
        write_json(folder / "words.json", self.words)
        named: dict[str, Any] = {f"length_{n}": some.astype(np.int32) for n, some in enumerate(self.tokens, start=1)}
        np.savez(folder / "ngrams.npz", **named)

    @property
    def longest(self) -> int:
        """Tokens of the longest ones."""
        return len(self.tokens)

    @cached_property
    def offsets(self) -> Integers:
        """First row of each length, and the number of all rows."""
        return np.cumsum([0, *(len(some) for some in self.tokens)])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _sorted(self) -> list[tuple[NDArray[Any], Integers]]:
        """Keys of each length in their order, and the rows that they belong to."""
        found = []
        for tokens, first in zip(self.tokens, self.offsets, strict=False):
            keys = _keys(tokens)
            order = np.argsort(keys)
            found.append((keys[order], first + order))
        return found

    def numbers(self, words: Sequence[str]) -> Integers:
        """Numbers of words; 0 for an unknown one."""
        return np.array([self._numbers.get(word, 0) for word in words], dtype=np.int32)

    def rows(self, numbers: Integers) -> Integers:
        """Row of the n-gram of k + 1 words that begins at n, `NONE` where there is none (words x longest)."""
        found = np.full((len(numbers), self.longest), NONE, dtype=np.int64)
        for length, (keys, rows) in enumerate(self._sorted, start=1):
            if len(numbers) < length or not len(keys):
                continue
            asked = _keys(np.lib.stride_tricks.sliding_window_view(numbers, length))
            places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
            found[: len(asked), length - 1] = np.where(keys[places] == asked, rows[places], NONE)
        return found

    def text(self, row: int) -> list[str]:
        """Words of an n-gram."""
        length = int(np.searchsorted(self.offsets, row, side="right"))
        return [self.words[number] for number in self.tokens[length - 1][row - self.offsets[length - 1]]]


def count_ngrams(texts: Sequence[Sequence[str]], longest: int, most: int) -> Ngrams:
    """Take the most frequent n-grams of texts, of each length; of equally frequent ones those that come first.

    Parameters
    ----------
    longest
        Tokens of the longest n-grams.
    most
        N-grams of each length; of one token there are all, however many.
    """
    known: dict[str, int] = {UNKNOWN: 0}
    numbers = [np.array([known.setdefault(word, len(known)) for word in text], dtype=np.int64) for text in texts]
    if len(known) == 1:
        raise MacroscopeError("the train split has no words, so that there are no n-grams; give the corpus more text")
    joined = np.concatenate(numbers)
    left = np.concatenate([np.arange(len(some), 0, -1) for some in numbers])  # tokens to the end of the text
    found = [np.arange(len(known))[:, None]]
    codes = joined.copy()
    for length in range(2, longest + 1):
        places = np.flatnonzero(left >= length)
        if not len(places):
            break
        # Numbers of the n-grams that are a token shorter, and the token behind: exact, however long they are.
        _, first, inverse, counts = np.unique(
            codes[places] * len(known) + joined[places + length - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        chosen = first[np.lexsort((first, -counts))[:most]]
        found.append(np.lib.stride_tricks.sliding_window_view(joined, length)[places[chosen]])
        codes[places] = inverse
    return Ngrams(tuple(known), tuple(found))


def _keys(tokens: Integers) -> NDArray[Any]:
    """The numbers of each row, plus one, as a string of bytes that compares as a whole (rows)."""
    wide = np.ascontiguousarray(tokens + 1, dtype=">u4")
    return wide.view(f"S{4 * tokens.shape[1]}")[:, 0]
