"""Vocabulary of a topic model (deng2022 Appendix F), and counts of its words in documents."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from macroscope.documents import Document
from macroscope.natural_language.words import lower_case_words

Tokenize = Callable[[str], list[str]]


def published_words(text: str) -> list[str]:
    """Split a text at white space and keep case and punctuation, as in the published code."""
    return text.split()


TOKENIZERS: dict[str, Tokenize] = {"definition": lower_case_words, "published": published_words}
"""Convention -> function that splits texts into words."""
LATEX_DEBRIS = {"definition": ("xmath", "xcite"), "published": ("xmath",)}
"""Convention -> parts of words that stand for formulas and citations in the papers of Cohan et al. (2018)."""


@dataclass(frozen=True)
class Limits:
    """Limits on the words of a vocabulary.

    Attributes
    ----------
    stop_words
        Excluded words, in lower case.
    debris
        Parts of excluded words, in lower case.
    most_documents
        Share of documents at or above which a word is excluded as uninformative about topics.
    least_frequency
        Smallest number of occurrences in all documents.
    """

    stop_words: frozenset[str]
    debris: Sequence[str] = LATEX_DEBRIS["definition"]
    most_documents: float = 0.5
    least_frequency: int = 5


def build_vocabulary(
    documents: Iterable[Document], tokenize: Tokenize, limits: Limits
) -> tuple[list[str], dict[str, int]]:
    """Select the words of training documents.

    Returns
    -------
    words
        Selected words, the most frequent first; words of equal frequency are in order of first occurrence.
    dropped
        Numbers of distinct words by the first limit that they fail, in this order: "stop word", "LaTeX debris", "in too
        many documents", "too rare".
    """
    frequency: Counter[str] = Counter()
    occurs_in: Counter[str] = Counter()
    total = 0
    for document in documents:
        words = tokenize(document.text)
        frequency.update(words)
        occurs_in.update(set(words))
        total += 1
    dropped = {"stop word": 0, "LaTeX debris": 0, "in too many documents": 0, "too rare": 0}
    kept = []
    for word, count in frequency.items():
        lower = word.lower()
        if lower in limits.stop_words:
            dropped["stop word"] += 1
        elif any(debris in lower for debris in limits.debris):
            dropped["LaTeX debris"] += 1
        elif occurs_in[word] >= limits.most_documents * total:
            dropped["in too many documents"] += 1
        elif count < limits.least_frequency:
            dropped["too rare"] += 1
        else:
            kept.append(word)
    return sorted(kept, key=lambda word: -frequency[word]), dropped


# ---- word counts -----------------------------------------------------------------------------------------------------
# Counts of the words of a vocabulary in documents, and batches of them for inference.

Integers = NDArray[np.integer]
_CELLS = 1 << 22
"""Largest number of cells (documents x types x topics) of a batch: 32 MB of float64."""


@dataclass(frozen=True)
class Words:
    """Padded counts of word types of a batch of documents.

    Attributes
    ----------
    types
        Indices of word types in the vocabulary (documents x largest number of types); padded with 0.
    counts
        Counts of these types, of the same shape; padded with 0.
    """

    types: torch.Tensor
    counts: torch.Tensor

    def __len__(self) -> int:
        return len(self.types)

    def __getitem__(self, documents: torch.Tensor) -> "Words":
        return Words(self.types[documents], self.counts[documents])

    def to(self, device: torch.device) -> "Words":
        """Return the counts on a device."""
        return Words(self.types.to(device), self.counts.to(device))

    @property
    def totals(self) -> torch.Tensor:
        """Return the number of words of each document."""
        return self.counts.sum(dim=1)


@dataclass(frozen=True)
class WordCounts:
    """Counts of word types in a collection; document d has the entries `starts[d]:starts[d + 1]`.

    Attributes
    ----------
    starts
        Offsets of the documents' entries (documents + 1).
    types, counts
        Index of a word type in the vocabulary, and its count in the document, for each entry.
    """

    starts: Integers
    types: Integers
    counts: Integers

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def from_documents(cls, documents: Iterable[Integers]) -> "WordCounts":
        """Count the word indices of each document."""
        counted = [np.unique(numbers, return_counts=True) for numbers in documents]
        starts = np.concatenate([[0], np.cumsum([len(types) for types, _ in counted])]).astype(np.int64)
        if not counted:
            return cls(starts, np.empty(0, np.int32), np.empty(0, np.int32))
        types, counts = (np.concatenate(arrays).astype(np.int32) for arrays in zip(*counted, strict=True))
        return cls(starts, types, counts)

    @property
    def totals(self) -> Integers:
        return np.diff(np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])[self.starts])

    def with_words(self, fewest: int = 1) -> "WordCounts":
        """Return the documents with at least `fewest` words."""
        chosen, lengths = self.totals >= fewest, np.diff(self.starts)
        entries = np.repeat(chosen, lengths)
        kept = slice(None) if entries.all() else entries  # documents without words have no entries: avoid a copy
        return WordCounts(np.concatenate([[0], np.cumsum(lengths[chosen])]), self.types[kept], self.counts[kept])

    def matrix(self, vocabulary: int) -> sparse.csr_matrix:
        """Return the counts as a sparse matrix (documents x words)."""
        return sparse.csr_matrix((self.counts.astype(float), self.types, self.starts), (len(self), vocabulary))

    def batch(self, documents: Integers) -> Words:
        """Return the padded counts of the documents with the given indices."""
        lengths = (self.starts[1:] - self.starts[:-1])[documents]
        columns = np.arange(max(1, int(lengths.max(initial=0))))[None]
        is_entry = columns < lengths[:, None]
        entries = np.where(is_entry, self.starts[:-1][documents][:, None] + columns, 0)
        types, counts = (
            np.where(is_entry, values[entries] if len(values) else 0, 0) for values in (self.types, self.counts)
        )
        return Words(torch.from_numpy(types.astype(np.int64)), torch.from_numpy(counts.astype(np.float64)))

    def batches(self, topics: int) -> Iterator[Integers]:
        """Yield indices of documents with similar numbers of types, in batches of limited memory."""
        lengths = np.maximum(self.starts[1:] - self.starts[:-1], 1)
        order = np.argsort(lengths, kind="stable")
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * lengths[order[end]] * topics <= _CELLS:
                end += 1
            yield order[start:end]
            start = end

    def split_words(self, rng: np.random.Generator) -> tuple["WordCounts", "WordCounts"]:
        """Split the words of each document into two random halves."""
        first = []
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            counts = self.counts[start:end]
            first.append(rng.multivariate_hypergeometric(counts, int(counts.sum()) // 2))
        half = np.concatenate([*first, np.empty(0, np.int64)]).astype(np.int32)
        return self._with_counts(half), self._with_counts(self.counts - half)

    def _with_counts(self, counts: Integers) -> "WordCounts":
        is_present = counts > 0
        starts = np.concatenate([[0], np.cumsum(is_present)])[self.starts]
        return WordCounts(starts, self.types[is_present], counts[is_present])


def count_words(documents: Iterable[Sequence[str]], vocabulary: dict[str, int]) -> WordCounts:
    """Count the words of the vocabulary in each document."""
    return WordCounts.from_documents(
        np.array([vocabulary[word] for word in words if word in vocabulary], dtype=np.int64) for words in documents
    )
