"""What the section classifier takes for what: to know what its mistakes add to a latent NLL, and to take it off again.

Rows are true section types, columns what the posterior gives: C_ij is the mean posterior of type j over validation
sections of type i. A posterior q of a section of type z has the mean C_z, so q C^-1 has the mean e_z; and given the
types, posteriors of different sections are independent. So the latent NLL of q C^-1 has the mean of the true types'
latent NLL, as long as the classifier makes on a text the mistakes that it makes on validation sections.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from macroscope.critics.coherence.smoothing import Array
from macroscope.files import read_json, write_json

OWN = 1.0
"""Sections of each type that count as recognised beforehand: a type without validation sections is not confused."""
LEAST_SINGULAR = 0.1
"""A confusion whose smallest singular value is below this is not inverted: noise would be taken for structure."""


def confusion(posterior: NDArray[np.floating], gold: NDArray[np.integer]) -> Array:
    """Mean posterior of the sections of each type, K x K; rows sum to 1.

    Parameters
    ----------
    posterior
        Sections x types, of sections that the classifier was not trained on.
    gold
        Their types; -1 where it is none of these.
    """
    types = posterior.shape[1]
    found = OWN * np.eye(types)
    np.add.at(found, gold[gold >= 0], posterior[gold >= 0])
    return found / found.sum(axis=1, keepdims=True)


def inverse(confused: Array) -> Array | None:
    """Inverse of a confusion; None where that is too uncertain."""
    if np.linalg.svd(confused, compute_uv=False)[-1] < LEAST_SINGULAR:
        return None
    return np.asarray(np.linalg.inv(confused), dtype=float)


def aggregated(counts: Array, confused: Array) -> Array:
    """Transitions that the classifier sees where the true ones are `counts`: those of the aggregated posterior.

    A prior from them is the optimal one of deng2022, Appendix B, as far as mistakes in neighbouring sections are
    independent.

    Parameters
    ----------
    counts
        (K + 1) x (K + 1), begin first, end last; see `smoothing`.
    """
    left, right = np.eye(len(counts)), np.eye(len(counts))
    left[1:, 1:], right[:-1, :-1] = confused, confused
    return left.T @ counts @ right


def write_confusion(path: Path, confused: Array) -> None:
    """Write a confusion as JSON, to six digits."""
    write_json(path, np.round(confused, 6).tolist())


def read_confusion(path: Path) -> Array:
    """Inverse of `write_confusion`."""
    found = np.array(read_json(path), dtype=float)
    return found / found.sum(axis=1, keepdims=True)
