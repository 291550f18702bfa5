"""Sizes of vocabularies at equal numbers of tokens: sample-based rarefaction (Gotelli and Colwell 2001).

A vocabulary grows with the text, so two collections can only be compared at an equal number of tokens. For the larger
collection, this is the expected vocabulary of a random subset of its documents: a type that occurs in n_i of n
documents occurs in a random subset of k documents with probability

    1 - C(n - n_i, k) / C(n, k).

Sampling documents instead of tokens keeps the words of a document together, as in the smaller collection.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from macroscope.statistics.document_sums import Array


def rarefied_size(presences: ArrayLike, units: float, subset: float) -> float:
    """Return the expected number of types in a random subset of a collection's units (documents or blocks of them).

    Parameters
    ----------
    presences
        n_i, number of units that each type occurs in.
    units
        n, number of units.
    subset
        k, size of the subset; need not be an integer. Values above n are replaced by n.
    """
    present = np.asarray(presences).astype(np.int64)
    present = present[present > 0]
    absence = _absence_probability(np.arange(int(units) + 1, dtype=float), units, min(subset, units))
    return float((1 - absence)[present].sum())


def units_for_tokens(tokens: float, units: float, all_tokens: float) -> float:
    """Return the number of a collection's units that have `tokens` tokens on average; at most all units."""
    return units if tokens >= all_tokens else units * tokens / all_tokens


def _absence_probability(presences: Array, units: float, subset: float) -> Array:
    """Return the probability that no unit of the subset has a type."""
    left = units - presences - subset + 1
    possible = left > 0
    logs = (
        gammaln(units - presences + 1)
        - gammaln(np.where(possible, left, 1.0))
        - gammaln(units + 1)
        + gammaln(units - subset + 1)
    )
    return np.where(possible, np.exp(logs), 0.0)
