"""Documents as counts of the words of a vocabulary, and batches of them for inference."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

Integers = NDArray[np.integer]
_CELLS = 1 << 22
"""Most cells (documents x types x topics) of a batch: 32 MB of float64."""


@dataclass(frozen=True)
class Words:
    """Documents as counts of word types.

    Attributes
    ----------
    types
        Documents x most types of one, numbers of the vocabulary; 0 where a document has fewer.
    counts
        The same shape, how often each occurs; 0 where a document has fewer types.
    """

    types: torch.Tensor
    counts: torch.Tensor

    def __len__(self) -> int:
        return len(self.types)

    def __getitem__(self, some: torch.Tensor) -> "Words":
        return Words(self.types[some], self.counts[some])

    def to(self, device: torch.device) -> "Words":
        """Move to a device."""
        return Words(self.types.to(device), self.counts.to(device))

    @property
    def totals(self) -> torch.Tensor:
        """Number of words of each document."""
        return self.counts.sum(dim=1)


@dataclass(frozen=True)
class WordCounts:
    """Counts of a collection: of document d, those of `types[starts[d]:starts[d + 1]]`.

    Attributes
    ----------
    starts
        Documents + 1.
    types, counts
        Word types of each document, by their numbers, and how often each occurs.
    """

    starts: Integers
    types: Integers
    counts: Integers

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, documents: Iterable[Integers]) -> "WordCounts":
        """Count the word numbers of each document."""
        counted = [np.unique(numbers, return_counts=True) for numbers in documents]
        starts = np.concatenate([[0], np.cumsum([len(types) for types, _ in counted])]).astype(np.int64)
        if not counted:
            return cls(starts, np.empty(0, np.int32), np.empty(0, np.int32))
        types, counts = (np.concatenate(some).astype(np.int32) for some in zip(*counted, strict=True))
        return cls(starts, types, counts)

    @property
    def totals(self) -> Integers:
        """Number of words of each document."""
        return np.diff(np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])[self.starts])

    def with_words(self, fewest: int = 1) -> "WordCounts":
        """Those documents that have so many words or more."""
        there, lengths = self.totals >= fewest, np.diff(self.starts)
        cells = np.repeat(there, lengths)
        kept = slice(None) if cells.all() else cells  # documents without a word have no cell: nothing is copied
        return WordCounts(np.concatenate([[0], np.cumsum(lengths[there])]), self.types[kept], self.counts[kept])

    def matrix(self, vocabulary: int) -> sparse.csr_matrix:
        """Documents x words."""
        return sparse.csr_matrix((self.counts.astype(float), self.types, self.starts), (len(self), vocabulary))

    def some(self, documents: Integers) -> Words:
        """Those of some documents, side by side."""
        lengths = (self.starts[1:] - self.starts[:-1])[documents]
        places = np.arange(max(1, int(lengths.max(initial=0))))[None]
        there = places < lengths[:, None]
        cells = np.where(there, self.starts[:-1][documents][:, None] + places, 0)
        types, counts = (
            np.where(there, values[cells] if len(values) else 0, 0) for values in (self.types, self.counts)
        )
        return Words(torch.from_numpy(types.astype(np.int64)), torch.from_numpy(counts.astype(np.float64)))

    def batches(self, topics: int) -> Iterator[Integers]:
        """Numbers of documents that have about as many types, together no more than memory should hold."""
        lengths = np.maximum(self.starts[1:] - self.starts[:-1], 1)
        order = np.argsort(lengths, kind="stable")
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * lengths[order[end]] * topics <= _CELLS:
                end += 1
            yield order[start:end]
            start = end

    def halves(self, rng: np.random.Generator) -> tuple["WordCounts", "WordCounts"]:
        """Half of the words of each document, at random, and the others."""
        first = []
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            counts = self.counts[start:end]
            first.append(rng.multivariate_hypergeometric(counts, int(counts.sum()) // 2))
        inside = np.concatenate([*first, np.empty(0, np.int64)]).astype(np.int32)
        return self._with(inside), self._with(self.counts - inside)

    def _with(self, counts: Integers) -> "WordCounts":
        there = counts > 0
        starts = np.concatenate([[0], np.cumsum(there)])[self.starts]
        return WordCounts(starts, self.types[there], counts[there])


def word_counts(documents: Iterable[Sequence[str]], vocabulary: dict[str, int]) -> WordCounts:
    """Count the known words of each document."""
    return WordCounts.of(
        np.array([vocabulary[word] for word in words if word in vocabulary], dtype=np.int64) for words in documents
    )
