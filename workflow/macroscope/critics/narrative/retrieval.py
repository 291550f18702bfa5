"""The sentences most like others by their words: BM25 (Robertson and Zaragoza 2009), through the library bm25s."""

from collections.abc import Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.narratives import Integers
from macroscope.critics.words import lower_case_words
from macroscope.progress import Progress

MANY = 20_000
"""Sentences from which on compiling the search pays."""
QUERIES_AT_ONCE = 5_000


@dataclass(frozen=True)
class Matches:
    """The best matches of some sentences, the best first.

    Attributes
    ----------
    numbers
        Of the matches, in the pool (queries x matches).
    scores
        BM25, with k1 = 1.5 and b = .75 (queries x matches); 0 of a match that has no word in common with the query.
    """

    numbers: Integers
    scores: npt.NDArray[np.float32]


def best_matches(pool: Sequence[str], queries: Sequence[str], most: int, threads: int = 1) -> Matches:
    """Find the sentences of a pool that match each query best.

    Parameters
    ----------
    most
        Matches of a query; the whole pool where it is smaller.
    threads
        Threads at work on a large pool; they change no result.

    Returns
    -------
    Matches
        Those of equal scores in the order of their numbers.
    """
    most = min(most, len(pool))
    if not (most and len(queries)):
        return Matches(np.empty((len(queries), most), dtype=np.int64), np.empty((len(queries), most), dtype=np.float32))
    compiled = len(pool) > MANY
    index = bm25s.BM25(k1=1.5, b=0.75, backend="numba" if compiled else "numpy")
    index.index(_words(pool), show_progress=False)
    found = [np.empty((0, most), dtype=np.int64)], [np.empty((0, most), dtype=np.float32)]
    with Progress("search for matches", len(queries), "sentences") as progress:
        for start in range(0, len(queries), QUERIES_AT_ONCE):
            some = _words(queries[start : start + QUERIES_AT_ONCE])
            more = {"n_threads": threads, "backend_selection": "numba"} if compiled else {}
            numbers, scores = index.retrieve(some, k=most, show_progress=False, **more)
            order = np.lexsort((numbers, -scores))
            found[0].append(np.take_along_axis(numbers, order, axis=1).astype(np.int64))
            found[1].append(np.take_along_axis(scores, order, axis=1))
            progress.advance(len(some))
    return Matches(np.concatenate(found[0]), np.concatenate(found[1]))


def _words(sentences: Sequence[str]) -> list[list[str]]:
    """Words of each sentence; one without any stands for itself, so that it is no error."""
    return [lower_case_words(sentence) or [sentence] for sentence in sentences]
