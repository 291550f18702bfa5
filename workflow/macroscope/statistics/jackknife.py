"""The delete-a-group jackknife: intervals for statistics of counts for which the bootstrap fails.

A resample with replacement loses a third of the rare types, so that the bootstrap shifts the size of a vocabulary and
every statistic of its tail. Leaving out one group of documents at a time does not. The bias of its variance, if any, is
upward (Efron and Stein 1981), and with G groups it costs G evaluations for any number of documents.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import stdtrit

from macroscope.statistics.document_features import Array

MOST_GROUPS = 100


def sum_into_groups(units: sparse.csr_matrix, most: int = MOST_GROUPS) -> sparse.csr_matrix:
    """Sum units (rows) into at most `most` groups, dealt out in turn so that groups are about equal in size."""
    count = min(most, units.shape[0])
    group = np.arange(units.shape[0]) % count
    membership = sparse.csr_matrix((np.ones(len(group)), (group, np.arange(len(group)))), shape=(count, len(group)))
    return (membership @ units).tocsr()


def jackknife_interval(
    groups: sparse.csr_matrix, statistic: Callable[[Array], ArrayLike], confidence: float
) -> tuple[Array, Array, Array]:
    """Compute value and interval of a statistic of counts.

    Parameters
    ----------
    groups
        Counts, groups of documents x types.
    statistic
        Function of the counts of all types that returns a value or a vector of values.
    confidence
        Level of the interval, in (0, 1).

    Returns
    -------
    value, low, high
        By Student's t with G - 1 degrees of freedom. The ends are NaN with fewer than two groups, or if a value without
        a group is undefined.
    """
    total = np.asarray(groups.sum(axis=0)).ravel().astype(float)
    left_out = [statistic(_without(total, groups, g)) for g in range(groups.shape[0])]
    return interval_of_left_out(statistic(total), left_out, confidence)


def jackknife_interval_of_texts(
    documents: ArrayLike,
    statistic: Callable[[NDArray[np.bool_]], ArrayLike],
    confidence: float,
    most: int,
) -> tuple[Array, Array, Array]:
    """Compute value and interval of a statistic of texts; see `jackknife_interval`.

    Parameters
    ----------
    documents
        Document, or block of documents, of each text; its texts are left out together.
    statistic
        Function of a mask of texts that returns a value or a vector of values.
    confidence
        Level of the interval, in (0, 1).
    most
        Largest number of groups.
    """
    names, document = np.unique(np.asarray(documents), return_inverse=True)
    count = min(most, len(names))
    group = document % max(count, 1)
    left_out = [statistic(group != g) for g in range(count)]
    return interval_of_left_out(statistic(np.ones(len(document), dtype=bool)), left_out, confidence)


def interval_of_left_out(
    value: ArrayLike, left_out: Sequence[ArrayLike], confidence: float
) -> tuple[Array, Array, Array]:
    """Compute the interval of a value from the values without each of several parts of the data, by Student's t.

    If estimates, too, are made without the part, the interval accounts for their error. NaN with fewer than two parts.
    """
    value, count = np.asarray(value, dtype=float), len(left_out)
    if count < 2:
        return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
    values = np.array(left_out, dtype=float)
    error = np.sqrt((count - 1) / count * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
    half = stdtrit(count - 1, 0.5 + confidence / 2) * error
    return value, value - half, value + half


def _without(total: Array, groups: sparse.csr_matrix, group: int) -> Array:
    left = total.copy()
    start, end = groups.indptr[group], groups.indptr[group + 1]
    left[groups.indices[start:end]] -= groups.data[start:end]
    return left
