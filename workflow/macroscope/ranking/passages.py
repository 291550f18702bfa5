"""Passages of equal length, and their numbers for `statistics.monotony`."""

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import count_words, locate_words, lower_case_words
from macroscope.statistics.monotony import TextNumbers

WORDS = 100
"""Number of words of a passage."""


def split_passages(text: str) -> list[str]:
    """Split a text into passages of `WORDS` words; what is left at its end is dropped."""
    starts = [start for start, _, _ in locate_words(text)]
    ends = [*starts[::WORDS], len(text)] if len(starts) % WORDS == 0 else starts[::WORDS]
    return [text[start:end].strip() for start, end in pairwise(ends)]


def compute_text_numbers(texts: Sequence[Sequence[str]], language: str) -> TextNumbers:
    """Compute the numbers of texts from their passages; every text has at least one."""
    compression, rhythm = (
        np.array([np.mean([measure(passage) for passage in passages]) for passages in texts])
        for measure in (log_compression, lambda passage: sentence_rhythm(passage, language))
    )
    shares, own_shares = _shared_pairs(texts)
    sizes = np.array([len(passages) for passages in texts], dtype=float)
    between = shares / np.outer(sizes, sizes)
    pairs = np.where(sizes > 1, sizes * (sizes - 1), np.nan)
    return TextNumbers(compression, rhythm, (np.diag(shares) - own_shares) / pairs, between)


def log_compression(passage: str) -> float:
    """Return the logarithm of the bytes of a passage over its bytes after DEFLATE."""
    raw = passage.encode("utf-8", "surrogatepass")
    return float(np.log(len(raw) / len(zlib.compress(raw, 6))))


def sentence_rhythm(passage: str, language: str) -> float:
    """Return the standard deviation of the logarithms of the lengths of the sentences in words; 0 for a single one."""
    counts = [count_words(s) for line in passage.splitlines() for s in split_sentences(line, language)]
    lengths = np.array([count for count in counts if count], dtype=float)
    return float(np.log(lengths).std()) if len(lengths) else 0.0


def _shared_pairs(texts: Sequence[Sequence[str]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums over pairs of passages of the pairs of words that they share, over the mean number that they have.

    Returns
    -------
    Sums over the passages of two texts (texts x texts), and of each passage with itself (per text).
    """
    numbers: dict[tuple[str, str], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    owners: list[int] = []
    for owner, passages in enumerate(texts):
        for passage in passages:
            for pair in set(pairwise(lower_case_words(passage))):
                rows.append(len(owners))
                columns.append(numbers.setdefault(pair, len(numbers)))
            owners.append(owner)
    shape = (len(owners), max(1, len(numbers)))
    has_pair = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    sizes = np.maximum(1.0, np.asarray(has_pair.sum(axis=1)).ravel())
    scaled = sparse.diags(1 / np.sqrt(sizes)) @ has_pair
    by_text = sparse.csr_matrix((np.ones(len(owners)), (owners, range(len(owners)))), shape=(len(texts), len(owners)))
    summed = by_text @ scaled
    own_shares = by_text @ np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel()
    return (summed @ summed.T).toarray(), np.asarray(own_shares)
