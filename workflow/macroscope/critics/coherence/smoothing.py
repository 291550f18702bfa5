"""Smoothing: estimates of transition probabilities from counts, rare and unseen transitions included.

Axes of counts and probabilities: row 0 is begin, row 1 + i is type i; column j is type j, column K is the end. By
definition, begin may be followed by any type, and a type by any type or the end.

Additive smoothing adds the same constant to the count of every successor. With few documents or many types, the latent
PPL of texts with unseen transitions depends on this constant. Backing off smooths towards the overall frequency of the
next section type, which is itself smoothed towards the uniform distribution:

    P(j | i) = (c_ij + a P(j)) / (c_i + a),        P(j) = (c_j + b / V) / (N + b)

(hierarchical Dirichlet; MacKay and Peto 1995). The weights a and b maximise the leave-one-out likelihood of the
documents: no constant is set by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sequences = Sequence[Sequence[int] | NDArray[np.integer]]

_LOG_BOUNDS = ((-6.0, 9.0), (-6.0, 9.0))
_AT_EDGE = 0.01


@dataclass(frozen=True)
class Additive:
    """P(j | i) = (c_ij + delta) / (c_i + delta V).

    Attributes
    ----------
    delta
        Constant added to each count, >= 0.
    published
        Whether begin and end count as successors of every state, as in the published code: V = K + 2. Otherwise V = K
        after begin and K + 1 after a type.
    """

    delta: float
    published: bool = False

    def probabilities(self, counts: Array) -> Array:
        """Compute P(column | row), axes as in `counts`; 0 in a row without counts if delta is 0."""
        k = len(counts) - 1
        possible = np.full((k + 1, 1), k + 2.0 if self.published else k + 1.0)
        smoothed = counts + self.delta
        if not self.published:
            possible[0] = k
            smoothed[0, k] = 0.0
        totals = counts.sum(axis=1, keepdims=True) + self.delta * possible
        return np.divide(smoothed, totals, out=np.zeros_like(smoothed), where=totals > 0)


@dataclass(frozen=True)
class BackOff:
    """Back-off from transitions to section types to the uniform distribution; see the module's docstring.

    Attributes
    ----------
    transitions, types
        Weights a and b: number of observations that the lower level counts for, > 0.
    """

    transitions: float
    types: float

    def probabilities(self, counts: Array) -> Array:
        """Compute P(column | row), axes as in `counts`; rows sum to 1, possible transitions have positive values."""
        below = np.array(self._types(counts.sum(axis=0), counts.sum()))
        below = np.tile(below, (len(counts), 1))
        below[0, -1] = 0.0
        below[0] /= below[0].sum()
        return (counts + self.transitions * below) / (counts.sum(axis=1, keepdims=True) + self.transitions)

    def _types(self, count: Array, total: "float | Array") -> Array:
        """Compute P(j) from the counts of types."""
        return (count + self.types / count.shape[-1]) / (np.asarray(total)[..., None] + self.types)


@dataclass(frozen=True)
class BackOffFit:
    """Fitted weights, and whether one is at the edge of the search range, so that the documents do not identify it."""

    smoothing: BackOff
    at_edge: bool


def fit_back_off(sequences: Sequences, types: int) -> BackOffFit:
    """Fit the back-off weights by maximum leave-one-out likelihood over documents.

    Parameters
    ----------
    sequences
        Indices of section types, one sequence per document.
    types
        Number K of section types.
    """
    from scipy.optimize import minimize  # slow to import; only this stage needs it

    terms = _leave_one_out(sequences, types)

    def loss(logs: Array) -> float:
        return -float(terms.log_likelihood(BackOff(*np.exp(logs))))

    optimum = minimize(
        loss, np.zeros(2), method="Nelder-Mead", bounds=_LOG_BOUNDS, options={"xatol": 1e-3, "fatol": 1e-4}
    )
    edges = np.array(_LOG_BOUNDS)
    at_edge = bool((np.abs(optimum.x[:, None] - edges) < _AT_EDGE).any())
    return BackOffFit(BackOff(*(float(weight) for weight in np.exp(optimum.x))), at_edge)


@dataclass(frozen=True)
class _LeaveOneOut:
    """Distinct transitions of each document, with counts from all other documents.

    Attributes
    ----------
    times
        Number of occurrences of the transition in the document.
    pair, row
        Counts of the transition, and of its previous type, in the other documents.
    type_, end, total
        Counts of the next type, of ends, and of all transitions in the other documents.
    first
        Whether the transition is the first of the document, which cannot be to the end.
    width
        Number of types plus one, for the end.
    """

    times: Array
    pair: Array
    row: Array
    type_: Array
    end: Array
    total: Array
    first: NDArray[np.bool_]
    width: int

    def log_likelihood(self, smoothing: BackOff) -> float:
        share, end = (
            (count + smoothing.types / self.width) / (self.total + smoothing.types) for count in (self.type_, self.end)
        )
        below = np.where(self.first, share / (1 - end), share)
        probabilities = (self.pair + smoothing.transitions * below) / (self.row + smoothing.transitions)
        return float(self.times @ np.log(probabilities))


def _leave_one_out(sequences: Sequences, types: int) -> _LeaveOneOut:
    steps = [index_transitions(sequence, types) for sequence in sequences]
    document = np.repeat(np.arange(len(steps)), [len(rows) for rows, _ in steps])
    row, column = (np.concatenate([step[axis] for step in steps]) for axis in (0, 1))
    width = types + 1
    pairs, number = np.unique(np.stack([document, row, column]), axis=1, return_counts=True)
    (document, row, column), times = pairs, number.astype(float)
    total = np.bincount(row * width + column, times, width * width)
    of_pair = total[row * width + column] - times
    of_row = _count_in_other_documents(document, row, times, width)
    of_type = _count_in_other_documents(document, column, times, width)
    length = np.bincount(document, times)
    of_end = total.reshape(width, width)[:, -1].sum() - 1.0  # every other document ends once
    return _LeaveOneOut(
        times,
        of_pair,
        of_row,
        of_type,
        np.full(len(times), of_end),
        times.sum() - length[document],
        row == 0,
        width,
    )


def _count_in_other_documents(
    document: NDArray[np.integer], key: NDArray[np.integer], times: Array, width: int
) -> Array:
    """Count the occurrences of each key in the other documents."""
    both = document * width + key
    return np.bincount(key, times, width)[key] - np.bincount(both, times)[both]


def index_transitions(
    sequence: Sequence[int] | NDArray[np.integer], types: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of a document's M + 1 transitions, without those to and from unknown types (-1)."""
    states = np.asarray(sequence, dtype=np.int64)
    rows, columns = np.concatenate([[0], 1 + states]), np.concatenate([states, [types]])
    is_known = np.concatenate([[True], states >= 0]) & np.concatenate([states >= 0, [True]])
    return rows[is_known], columns[is_known]
