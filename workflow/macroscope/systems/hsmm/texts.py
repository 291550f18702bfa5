"""Texts as a hidden semi-Markov model reads them: the rows of their n-grams."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from macroscope.errors import MacroscopeError
from macroscope.systems.hsmm.ngrams import NONE, Integers, Ngrams
from macroscope.systems.tokenizer import training_texts
from macroscope.systems.words import split_words

MOST_KEPT = 100_000_000
"""Rows that are kept in memory, four bytes each; those of more text are looked up anew each time."""

MOST_CELLS = 50_000_000
"""Numbers of a table of a batch, tokens x states: 200 MB, of which the backward pass has four."""


def texts_of(documents: Path, split: str) -> list[list[str]]:
    """Words of the texts of a split."""
    return [split_words(text) for text in training_texts(documents, split, titles=False)]


class Texts(Dataset[Integers]):
    """The rows of texts, one text at a time: tokens x longest, `NONE` where there is no n-gram.

    Attributes
    ----------
    numbers
        Of the words of each text.
    """

    def __init__(self, texts: Sequence[Sequence[str]], ngrams: Ngrams) -> None:
        self.ngrams = ngrams
        self.numbers = [ngrams.numbers(words) for words in texts]
        self.sizes = np.array([len(numbers) for numbers in self.numbers])
        if empty := int((self.sizes == 0).sum()):
            raise MacroscopeError(
                f"{empty} of {len(self)} texts have no words, and so no segments; leave them out of the corpus"
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
        """Of all texts."""
        return int(self.sizes.sum())

    def by_length(self, size: int, states: int) -> list[list[int]]:
        """Numbers of all texts in batches of texts of like lengths; the same batches for the same texts.

        Parameters
        ----------
        size
            Most texts of a batch; long texts are fewer, so that a table of tokens x states has no more than
            `MOST_CELLS` numbers, or are alone.
        states
            Of the model.
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
    """Make what a model reads of the rows of texts: rows (texts x tokens x longest), sizes (texts)."""
    sizes = [len(rows) for rows in texts]
    found = np.full((len(texts), max(sizes), texts[0].shape[1]), NONE, dtype=np.int64)
    for place, rows in enumerate(texts):
        found[place, : len(rows)] = rows
    return {"rows": torch.from_numpy(found), "sizes": torch.tensor(sizes)}
