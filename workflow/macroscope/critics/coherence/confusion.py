"""The section classifier's confusion matrix, and the latent NLL corrected for it.

Rows are true section types, columns inferred types: C_ij is the mean posterior of type j over validation sections of
type i. The posterior q of a section of type z has the mean C_z, so q C^-1 has the mean e_z. Given the types, the
posteriors of different sections are independent. The latent NLL of q C^-1 is therefore an unbiased estimate of the
latent NLL of the true types, provided that the classifier makes the same errors as on validation sections.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from macroscope.critics.coherence.smoothing import Array
from macroscope.files import read_json, write_json

PRIOR_SECTIONS = 1.0
"""Correctly classified sections added per type (pseudo-counts): a type without validation sections is not confused."""
MIN_SINGULAR_VALUE = 0.1
"""Smallest singular value down to which a confusion matrix is inverted: below it, the inverse amplifies noise."""


def estimate_confusion(posterior: NDArray[np.floating], gold: NDArray[np.integer]) -> Array:
    """Estimate the confusion matrix: the mean posterior of the sections of each type, K x K; rows sum to 1.

    Parameters
    ----------
    posterior
        Array sections x types, of sections that the classifier was not trained on.
    gold
        Index of the true type of each section; -1 if the type is not among the K types.
    """
    types = posterior.shape[1]
    matrix = PRIOR_SECTIONS * np.eye(types)
    np.add.at(matrix, gold[gold >= 0], posterior[gold >= 0])
    return matrix / matrix.sum(axis=1, keepdims=True)


def invert_confusion(confusion: Array) -> Array | None:
    """Invert a confusion matrix; return None if it is close to singular (see `MIN_SINGULAR_VALUE`)."""
    if np.linalg.svd(confusion, compute_uv=False)[-1] < MIN_SINGULAR_VALUE:
        return None
    return np.asarray(np.linalg.inv(confusion), dtype=float)


def aggregate_counts(counts: Array, confusion: Array) -> Array:
    """Compute the expected counts of inferred transitions, given `counts` of true ones (the aggregated posterior).

    A prior that is fitted to them is the optimal prior of deng2022, Appendix B, if errors in neighbouring sections are
    independent.

    Parameters
    ----------
    counts
        Array (K + 1) x (K + 1), begin first, end last; see `smoothing`.
    """
    left, right = np.eye(len(counts)), np.eye(len(counts))
    left[1:, 1:], right[:-1, :-1] = confusion, confusion
    return left.T @ counts @ right


def write_confusion(path: Path, confusion: Array) -> None:
    """Write a confusion matrix as JSON, rounded to six decimals."""
    write_json(path, np.round(confusion, 6).tolist())


def read_confusion(path: Path) -> Array:
    """Read a confusion matrix that `write_confusion` wrote."""
    matrix = np.array(read_json(path), dtype=float)
    return matrix / matrix.sum(axis=1, keepdims=True)
