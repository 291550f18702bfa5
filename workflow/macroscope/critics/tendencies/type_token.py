"""Type-token: Heaps' law as a Poisson regression (meister2021 §3.1, eq. 5, §5.2, App. A).

    types u of a text of l tokens ~ Poisson(alpha l^beta)

The likelihood depends on the texts through the number of texts and the sum of types at each length, so that fitting
costs the number of distinct lengths. Types in a text vary less than a Poisson variable (there are never more than
tokens), so nothing is made of the law's own variance: see `growth`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import pdtr

from macroscope.statistics.document_sums import Array
from macroscope.statistics.kolmogorov_smirnov import ks_of_counts

_STEPS, _TOLERANCE = 100, 1e-12


@dataclass(frozen=True)
class HeapsFit:
    """Heaps' law of a collection.

    Attributes
    ----------
    alpha, beta
        alpha > 0.
    """

    alpha: float
    beta: float

    def rate(self, lengths: ArrayLike) -> Array:
        """Expected number of types at each length."""
        return self.alpha * np.asarray(lengths, dtype=float) ** self.beta


def fit_heaps(lengths: ArrayLike, types: ArrayLike) -> HeapsFit | None:
    """Maximum-likelihood fit by iteratively reweighted least squares.

    Parameters
    ----------
    lengths, types
        Tokens and types of each text; texts without tokens or types take no part.

    Returns
    -------
    The fit, or None where there are fewer than two distinct lengths: no slope.
    """
    lengths, types = np.asarray(lengths, dtype=float), np.asarray(types, dtype=float)
    known = (lengths > 0) & (types > 0)
    distinct, where = np.unique(lengths[known], return_inverse=True)
    if len(distinct) < 2:
        return None
    texts, sums = np.bincount(where).astype(float), np.bincount(where, types[known])
    design = np.column_stack([np.ones(len(distinct)), np.log(distinct)])
    weights = np.sqrt(sums)
    coefficients = np.linalg.lstsq(design * weights[:, None], np.log(sums / texts) * weights, rcond=None)[0]
    for _ in range(_STEPS):
        expected = texts * np.exp(design @ coefficients)
        information = design.T @ (design * expected[:, None])
        step = np.linalg.solve(information, design.T @ (sums - expected))
        coefficients = coefficients + step
        if np.abs(step).max() < _TOLERANCE:
            break
    return HeapsFit(float(np.exp(coefficients[0])), float(coefficients[1]))


def length_bins(lengths: ArrayLike, per_decade: int | None) -> Array:
    """Bin of each length, as its lowest length; with None, the length itself.

    Bins have equal ratios, 10^(1 / per_decade), and whole numbers as ends.
    """
    lengths = np.asarray(lengths, dtype=float)
    if per_decade is None:
        return lengths
    longest = max(float(lengths.max()), 1.0) if len(lengths) else 1.0
    exponents = np.arange(0, np.ceil(np.log10(longest) * per_decade) + 2) / per_decade
    edges = np.unique(np.ceil(10**exponents - 1e-9))
    return edges[np.searchsorted(edges, lengths, side="right") - 1]


def poisson_mixture_cdf(rates: Array, most: int) -> Array:
    """P(u <= k) for k = 0 ... most, averaged over the rates: what types should be in texts of these lengths."""
    distinct, counts = np.unique(rates, return_counts=True)
    return counts @ pdtr(np.arange(most + 1)[None, :], distinct[:, None]) / counts.sum()


def distance_to_poisson(types: Array, rates: Array) -> float:
    """D between the types of some texts and the Poisson law of their lengths."""
    counts = np.bincount(types.astype(int))
    return float(np.abs(np.cumsum(counts) / counts.sum() - poisson_mixture_cdf(rates, len(counts) - 1)).max())


def distance_between_types(first: NDArray[Any], second: NDArray[Any]) -> float:
    """D between the numbers of types of two groups of texts, whole numbers."""
    size = int(max(first.max(), second.max())) + 1
    return ks_of_counts(*(np.bincount(side.astype(int), minlength=size) for side in (first, second)))
