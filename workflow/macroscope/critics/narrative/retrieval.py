"""Retrieval of lexically similar sentences with BM25 (Robertson and Zaragoza 2009), through the library bm25s."""

from collections.abc import Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
import numpy.typing as npt

from macroscope.critics.narratives import Integers
from macroscope.natural_language.words import lower_case_words
from macroscope.progress import SILENT_SECONDS, Progress

MANY = 20_000
"""Number of sentences above which compiling the search pays off."""
QUERIES_AT_ONCE = 5_000


@dataclass(frozen=True)
class Matches:
    """The best matches of sentences, the best first.

    Attributes
    ----------
    numbers
        Numbers of the matches in the pool (queries x matches).
    scores
        BM25 scores, with k1 = 1.5 and b = .75 (queries x matches); 0 if a match has no word in common with the query.
    """

    numbers: Integers
    scores: npt.NDArray[np.float32]


class MatchIndex:
    """BM25 index of a pool of sentences, at least one."""

    def __init__(self, pool: Sequence[str]) -> None:
        self.size, self.is_large = len(pool), len(pool) > MANY
        self._index = bm25s.BM25(k1=1.5, b=0.75, backend="numba" if self.is_large else "numpy")
        self._index.index(_words(pool), show_progress=False)

    def find(self, queries: Sequence[str], most: int, threads: int = 1) -> Matches:
        """Find the sentences of the pool that match each query best; see `find_best_matches`."""
        most = min(most, self.size)
        shape = len(queries), most
        matches = Matches(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32))
        with Progress("search for matches", len(queries), "sentences", SILENT_SECONDS) as progress:
            for start in range(0, len(queries), QUERIES_AT_ONCE):
                batch = _words(queries[start : start + QUERIES_AT_ONCE])
                options = {"n_threads": threads, "backend_selection": "numba"} if self.is_large else {}
                numbers, scores = self._index.retrieve(batch, k=most, show_progress=False, **options)
                order = np.lexsort((numbers, -scores))
                rows = slice(start, start + len(batch))
                matches.numbers[rows] = np.take_along_axis(numbers, order, axis=1)
                matches.scores[rows] = np.take_along_axis(scores, order, axis=1)
                progress.advance(len(batch))
        return matches


def find_best_matches(pool: Sequence[str], queries: Sequence[str], most: int, threads: int = 1) -> Matches:
    """Find the sentences of a pool that match each query best.

    Parameters
    ----------
    most
        Number of matches per query; the pool's size if that is smaller.
    threads
        Number of threads for a large pool; results do not depend on it.

    Returns
    -------
    Matches
        Matches of each query; those with equal scores in the order of their numbers.
    """
    if not (pool and queries):
        most = min(most, len(pool))
        return Matches(np.empty((len(queries), most), dtype=np.int64), np.empty((len(queries), most), dtype=np.float32))
    return MatchIndex(pool).find(queries, most, threads)


def _words(sentences: Sequence[str]) -> list[list[str]]:
    """Return the words of each sentence; a sentence without words becomes one word, since bm25s rejects empty ones."""
    return [lower_case_words(sentence) or [sentence] for sentence in sentences]
