"""Texts in the input form of a hidden semi-Markov model: the rows of their n-grams."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from macroscope.errors import MacroscopeError
from macroscope.systems.formats import read_training_texts
from macroscope.systems.hsmm.ngrams import NONE, Integers, Ngrams
from macroscope.systems.tokenizer import split_words

MOST_KEPT = 100_000_000
"""Largest number of rows that are kept in memory, four bytes each; beyond it, rows are looked up each time."""

MOST_CELLS = 50_000_000
"""Largest size of a batch's table of tokens x states: 200 MB; the backward pass has four such tables."""


def read_split_words(documents: Path, split: str) -> list[list[str]]:
    """Read the texts of a split as lists of words."""
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
