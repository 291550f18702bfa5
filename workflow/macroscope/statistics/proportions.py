"""Intervals of proportions, of independent trials and of trials clustered in documents."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtri, stdtrit

Array = NDArray[np.float64]
_FREEDOM = 1
"""Degrees of freedom in addition to the number of affected documents; by simulation."""
_ROUNDING = 1e-9
"""Relative difference up to which probabilities count as equal."""


def wilson_interval(successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[Array, Array]:
    """Compute the Wilson (1927) score interval of a proportion, elementwise.

    Parameters
    ----------
    successes, n
        Counts that broadcast against each other, 0 <= successes <= n.
    confidence
        Level, in (0, 1).

    Returns
    -------
    low, high
        In [0, 1]; (0, 1) if n is 0.
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(n, float))
    return _wilson(k, n, ndtri(0.5 + confidence / 2))


def clustered_interval(
    successes: ArrayLike,
    trials: ArrayLike,
    squares: ArrayLike,
    squared_trials: ArrayLike,
    documents: ArrayLike,
    affected: ArrayLike,
    confidence: float = 0.95,
) -> tuple[Array, Array]:
    """Compute Wilson's interval of proportions of trials clustered in documents, elementwise, from sums over documents.

    Trials of a document are alike. They therefore count as the number of independent trials that would give the share
    its variance between documents (the design effect; Korn and Graubard 1998), with Student's t in place of the normal
    quantile. If no document, or every document, has only successes, each document counts as one trial.

    Parameters
    ----------
    successes, trials
        Sums of both over documents.
    squares
        Sum of (successes - share x trials)^2.
    squared_trials
        Sum of trials^2.
    documents
        Number of documents that have a trial.
    affected
        Number of documents with a success, or with a failure, whichever is smaller: the smaller it is, the less is
        known about how alike the trials of a document are.
    confidence
        Level, in (0, 1).

    Returns
    -------
    low, high
        In [0, 1]; (0, 1) if there is no trial.
    """
    k, n, squares, n2, documents, affected = np.broadcast_arrays(
        *(
            np.asarray(values, dtype=float)
            for values in (successes, trials, squares, squared_trials, documents, affected)
        )
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        share = k / n
        variance = squares * documents / np.maximum(documents - 1, 1) / n**2
        effective = np.where(variance > 0, share * (1 - share) / variance, n**2 / n2)
    effective = np.where(n > 0, np.clip(effective, 1.0, np.maximum(n, 1.0)), 0.0)
    # If no document is affected, each counts as at most one trial already.
    freedom = np.where(affected > 0, np.minimum(documents - 1, affected + _FREEDOM), documents - 1).clip(min=1.0)
    is_unclustered = n2 <= n  # no document has more than one trial: nothing is clustered
    tail = 0.5 + confidence / 2
    z = np.where(is_unclustered, ndtri(tail), stdtrit(freedom, tail))
    effective = np.where(is_unclustered, n, effective)
    return _wilson(np.where(n > 0, share, 0.0) * effective, effective, z)


def share_interval(successes: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """Compute the share of successes among trials clustered in documents, with its interval; see `clustered_interval`.

    Parameters
    ----------
    successes, trials
        Numbers of each document.
    confidence
        Level, in (0, 1).

    Returns
    -------
    share, low, high
        NaN if there is no trial.
    """
    y, x = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    if not x.sum():
        return (float("nan"),) * 3
    share = y.sum() / x.sum()
    affected = min(np.count_nonzero(y > 0), np.count_nonzero(y < x))
    sums = (y.sum(), x.sum(), ((y - share * x) ** 2).sum(), (x**2).sum(), np.count_nonzero(x), affected)
    low, high = clustered_interval(*sums, confidence)
    return float(share), float(low), float(high)


def exact_test(successes: int, n: int, other_successes: int, other_n: int) -> float:
    """Compute the two-tailed p-value of Fisher's exact test of equal proportions."""
    law = hypergeometric_law(n, other_n, successes + other_successes)[0]
    return float(min(1.0, law[law <= law[successes] * (1 + _ROUNDING)].sum()))


def hypergeometric_law(n: int, other_n: int, successes: ArrayLike) -> Array:
    """Return the law of a sample's successes, given those of both samples; scipy.stats, which has it, loads slowly.

    Returns
    -------
    array
        Each number of successes of both samples x (0 ... n successes of the first sample).
    """
    total, number = np.atleast_1d(successes)[:, None], np.arange(n + 1)
    others = total - number
    is_possible = (others >= 0) & (others <= other_n)
    logs = (
        _log_binomial(n, number) + _log_binomial(other_n, others.clip(0, other_n)) - _log_binomial(n + other_n, total)
    )
    return np.exp(np.where(is_possible, logs, -np.inf))


def _log_binomial(n: int, k: NDArray[np.integer]) -> Array:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _wilson(k: Array, n: Array, z: "Array | float") -> tuple[Array, Array]:
    nonzero = np.where(n > 0, n, 1.0)
    share = k / nonzero
    centre = (share + z**2 / (2 * nonzero)) / (1 + z**2 / nonzero)
    half = z / (1 + z**2 / nonzero) * np.sqrt(share * (1 - share) / nonzero + z**2 / (4 * nonzero**2))
    # At the ends the bound is 0 or 1 exactly; rounding must not move it past the share itself.
    low = np.where((n > 0) & (k > 0), centre - half, 0.0)
    high = np.where((n > 0) & (k < n), centre + half, 1.0)
    return low, high
