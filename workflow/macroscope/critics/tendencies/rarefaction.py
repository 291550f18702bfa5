"""Sizes of vocabularies at equal numbers of tokens: sample-based rarefaction (Gotelli and Colwell 2001).

A vocabulary grows with the text, so those of two collections can be compared at an equal number of tokens alone. Of the
larger collection that is the expected vocabulary of some of its documents: a type that n_i of n documents have is in
k of them, drawn at random, with probability

    1 - C(n - n_i, k) / C(n, k).

Drawing documents and not tokens keeps the words of a document together, as they are in the smaller collection.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from macroscope.statistics.document_sums import Array


def rarefied_size(presences: ArrayLike, units: float, drawn: float) -> float:
    """Expected number of types in some of a collection's documents, or blocks of documents.

    Parameters
    ----------
    presences
        n_i: in how many of the units each type occurs.
    units
        n.
    drawn
        k, which need not be whole; not above n.
    """
    there = np.asarray(presences).astype(np.int64)
    there = there[there > 0]
    return float((1 - _absence(np.arange(int(units) + 1, dtype=float), units, min(drawn, units)))[there].sum())


def units_with(tokens: float, units: float, all_tokens: float) -> float:
    """How many of a collection's units have that many tokens on average; all of them where it has no more."""
    return units if tokens >= all_tokens else units * tokens / all_tokens


def _absence(presences: Array, units: float, drawn: float) -> Array:
    """Probability that none of the drawn units has a type."""
    left = units - presences - drawn + 1
    possible = left > 0
    logs = (
        gammaln(units - presences + 1)
        - gammaln(np.where(possible, left, 1.0))
        - gammaln(units + 1)
        + gammaln(units - drawn + 1)
    )
    return np.where(possible, np.exp(logs), 0.0)
