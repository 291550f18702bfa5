"""Type-token: Heaps' law as a Poisson regression (meister2021 §3.1, eq. 5, §5.2, App. A).

    types u of a text of l tokens ~ Poisson(alpha l^beta)

The likelihood depends on the texts only through the number of texts and the sum of types at each length, so the cost of
fitting grows with the number of distinct lengths. Types in a text vary less than a Poisson variable (there are never
more types than tokens), so the law's own variance is not used: see `growth`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import pdtr

from macroscope.statistics.document_features import Array
from macroscope.statistics.kolmogorov_smirnov import ks_distance_of_counts

_STEPS, _TOLERANCE = 100, 1e-12


@dataclass(frozen=True)
class HeapsFit:
    """Heaps' law of a collection.

    Attributes
    ----------
    alpha, beta
        Factor (> 0) and exponent of the law.
    """

    alpha: float
    beta: float

    def rate(self, lengths: ArrayLike) -> Array:
        return self.alpha * np.asarray(lengths, dtype=float) ** self.beta


def fit_heaps(lengths: ArrayLike, types: ArrayLike) -> HeapsFit | None:
    """Fit Heaps' law by maximum likelihood (iteratively reweighted least squares).

    Parameters
    ----------
    lengths, types
        Numbers of tokens and types of each text; texts without tokens or types are ignored.

    Returns
    -------
    The fit, or None with fewer than two distinct lengths, because the slope is undefined.
    """
    lengths, types = np.asarray(lengths, dtype=float), np.asarray(types, dtype=float)
    is_nonempty = (lengths > 0) & (types > 0)
    distinct, indices = np.unique(lengths[is_nonempty], return_inverse=True)
    if len(distinct) < 2:
        return None
    texts, sums = np.bincount(indices).astype(float), np.bincount(indices, types[is_nonempty])
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
    """Return the bin of each length, as the bin's lowest length; the length itself if `per_decade` is None.

    Bins have equal ratios, 10^(1 / per_decade), and integer edges.
    """
    lengths = np.asarray(lengths, dtype=float)
    if per_decade is None:
        return lengths
    longest = max(float(lengths.max()), 1.0) if len(lengths) else 1.0
    exponents = np.arange(0, np.ceil(np.log10(longest) * per_decade) + 2) / per_decade
    edges = np.unique(np.ceil(10**exponents - 1e-9))
    return edges[np.searchsorted(edges, lengths, side="right") - 1]


def poisson_mixture_cdf(rates: Array, at: NDArray[np.int64]) -> Array:
    """Return P(u <= k) at each k, averaged over the Poisson rates of texts."""
    distinct, counts = np.unique(rates, return_counts=True)
    return counts @ pdtr(at[None, :], distinct[:, None]) / counts.sum()


def distance_to_poisson(types: Array, rates: Array) -> float:
    """Return the KS distance D between the types of texts and the mixture of Poisson laws with their rates.

    The law is evaluated at the ends of the steps of the texts' distribution: in between, its distance lies between
    those at the ends, since the law does not fall.
    """
    counts = np.bincount(types.astype(int))
    is_end = counts > 0
    is_end[:-1] |= is_end[1:]
    ends = np.flatnonzero(is_end)
    return float(np.abs(np.cumsum(counts)[ends] / counts.sum() - poisson_mixture_cdf(rates, ends)).max())


def distance_between_types(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the KS distance D between the numbers of types (integers) of two groups of texts."""
    size = int(max(first.max(), second.max())) + 1
    return ks_distance_of_counts(*(np.bincount(types.astype(int), minlength=size) for types in (first, second)))
