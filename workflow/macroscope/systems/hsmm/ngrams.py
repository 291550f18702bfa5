"""The n-grams that a hidden semi-Markov model can emit, those most frequent of each length, and texts as their rows.

The n-grams of one token are all words and an unknown word, so that the model can emit any text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.systems.formats import read_training_texts
from macroscope.systems.tokenizer import UNKNOWN, split_words

Integers = NDArray[np.signedinteger[Any]]

NONE = -1
"""Row of an n-gram that the model does not have."""


@dataclass(frozen=True)
class Ngrams:
    """N-grams by row: one length after the other, and within a length the most frequent ones first.

    Attributes
    ----------
    words
        Words by number; number 0 is `UNKNOWN`, and row 0 is that word alone.
    tokens
        For each length from 1, the numbers of the n-grams' words: n-grams x length.
    """

    words: tuple[str, ...]
    tokens: tuple[Integers, ...]

    @classmethod
    def load(cls, folder: Path) -> "Ngrams":
        """Load the n-grams that `save` wrote."""
        with np.load(folder / "ngrams.npz") as saved:
            tokens = tuple(saved[f"length_{length}"].astype(np.int64) for length in range(1, len(saved.files) + 1))
        return cls(tuple(read_json(folder / "words.json")), tokens)

    def save(self, folder: Path) -> None:
        """Write words.json and ngrams.npz into a folder."""
        write_json(folder / "words.json", self.words)
        arrays: dict[str, Any] = {f"length_{n}": rows.astype(np.int32) for n, rows in enumerate(self.tokens, start=1)}
        np.savez(folder / "ngrams.npz", **arrays)

    @property
    def longest(self) -> int:
        """Return the number of tokens of the longest n-grams."""
        return len(self.tokens)

    @cached_property
    def offsets(self) -> Integers:
        """Return the first row of each length, and the number of all rows."""
        return np.cumsum([0, *(len(rows) for rows in self.tokens)])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _sorted(self) -> list[tuple[NDArray[Any], Integers]]:
        """Return, for each length, the sorted keys and their rows."""
        tables = []
        for tokens, first in zip(self.tokens, self.offsets, strict=False):
            keys = _keys(tokens)
            order = np.argsort(keys)
            tables.append((keys[order], first + order))
        return tables

    def numbers(self, words: Sequence[str]) -> Integers:
        """Return the numbers of words; 0 for an unknown word."""
        return np.array([self._numbers.get(word, 0) for word in words], dtype=np.int32)

    def rows(self, numbers: Integers) -> Integers:
        """Return the row of the n-gram of k + 1 words that begins at n, or `NONE`: words x longest."""
        table = np.full((len(numbers), self.longest), NONE, dtype=np.int64)
        for length, (keys, rows) in enumerate(self._sorted, start=1):
            if len(numbers) < length or not len(keys):
                continue
            wanted = _keys(np.lib.stride_tricks.sliding_window_view(numbers, length))
            places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            table[: len(wanted), length - 1] = np.where(keys[places] == wanted, rows[places], NONE)
        return table

    def text(self, row: int) -> list[str]:
        """Return the words of an n-gram, given its row."""
        length = int(np.searchsorted(self.offsets, row, side="right"))
        return [self.words[number] for number in self.tokens[length - 1][row - self.offsets[length - 1]]]


def count_ngrams(texts: Sequence[Sequence[str]], longest: int, most: int) -> Ngrams:
    """Select the most frequent n-grams of texts for each length; among equally frequent ones, the first in the texts.

    Parameters
    ----------
    longest
        Number of tokens of the longest n-grams.
    most
        Number of n-grams of each length above one; all words are included.
    """
    vocabulary: dict[str, int] = {UNKNOWN: 0}
    numbers = [
        np.array([vocabulary.setdefault(word, len(vocabulary)) for word in text], dtype=np.int64) for text in texts
    ]
    if len(vocabulary) == 1:
        raise MacroscopeError("the train split has no words, so there are no n-grams; give the corpus more text")
    joined = np.concatenate(numbers)
    left = np.concatenate([np.arange(len(text), 0, -1) for text in numbers])  # tokens to the end of the text
    ngrams = [np.arange(len(vocabulary))[:, None]]
    codes = joined.copy()
    for length in range(2, longest + 1):
        places = np.flatnonzero(left >= length)
        if not len(places):
            break
        # An n-gram's code combines the number of its first n - 1 tokens and its last one, so it is exact at any length.
        _, first, inverse, counts = np.unique(
            codes[places] * len(vocabulary) + joined[places + length - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        chosen = first[np.lexsort((first, -counts))[:most]]
        ngrams.append(np.lib.stride_tricks.sliding_window_view(joined, length)[places[chosen]])
        codes[places] = inverse
    return Ngrams(tuple(vocabulary), tuple(ngrams))


def _keys(tokens: Integers) -> NDArray[Any]:
    """Return each row of numbers, plus one, as a byte string, which can be compared as a whole."""
    wide = np.ascontiguousarray(tokens + 1, dtype=">u4")
    return wide.view(f"S{4 * tokens.shape[1]}")[:, 0]


MOST_KEPT = 100_000_000
"""Largest number of rows that are kept in memory, four bytes each; beyond it, rows are looked up each time."""

MOST_CELLS = 50_000_000
"""Largest size of a batch's table of tokens x states: 200 MB; the backward pass has four such tables."""


def read_split_words(documents: Path, split: str) -> list[list[str]]:
    return [split_words(text) for text in read_training_texts(documents, split, titles=False)]


class Texts(Dataset[Integers]):
    """Rows of the n-grams of each text: tokens x longest, `NONE` if there is no n-gram.

    Attributes
    ----------
    numbers
        Numbers of the words of each text.

    Raises
    ------
    MacroscopeError
        If a text has no words.
    """

    def __init__(self, texts: Sequence[Sequence[str]], ngrams: Ngrams) -> None:
        self.ngrams = ngrams
        self.numbers = [ngrams.numbers(words) for words in texts]
        self.sizes = np.array([len(numbers) for numbers in self.numbers])
        if empty := int((self.sizes == 0).sum()):
            raise MacroscopeError(
                f"{empty} of {len(self)} texts have no words, hence no segments; leave them out of the corpus"
                " (filters.min_section_tokens: 1)"
            )
        keeps = self.tokens * ngrams.longest <= MOST_KEPT
        self._rows = [ngrams.rows(numbers).astype(np.int32) for numbers in self.numbers] if keeps else None

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> Integers:
        return self.ngrams.rows(self.numbers[index]) if self._rows is None else self._rows[index]

    @property
    def tokens(self) -> int:
        """Return the number of tokens of all texts."""
        return int(self.sizes.sum())

    def by_length(self, size: int, states: int) -> list[list[int]]:
        """Divide all texts into batches of similar lengths, deterministically.

        Parameters
        ----------
        size
            Largest number of texts of a batch. A batch of long texts has fewer, so that its table of tokens x states
            has at most `MOST_CELLS` numbers, or a single text.
        states
            Number of states of the model.

        Returns
        -------
        Indices of the texts of each batch.
        """
        batches: list[list[int]] = []
        for index in np.argsort(self.sizes, kind="stable").tolist():
            cells = (len(batches[-1]) + 1 if batches else 1) * int(self.sizes[index]) * states
            if batches and len(batches[-1]) < size and cells <= MOST_CELLS:
                batches[-1].append(index)
            else:
                batches.append([index])
        return batches


def collate(texts: Sequence[Integers]) -> dict[str, Any]:
    """Make the arguments of `Hsmm.forward` from texts: rows (texts x tokens x longest, padded), sizes (texts)."""
    sizes = [len(rows) for rows in texts]
    padded = np.full((len(texts), max(sizes), texts[0].shape[1]), NONE, dtype=np.int64)
    for place, rows in enumerate(texts):
        padded[place, : len(rows)] = rows
    return {"rows": torch.from_numpy(padded), "sizes": torch.tensor(sizes)}
