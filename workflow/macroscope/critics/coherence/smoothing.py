"""Transition probabilities from counts: what to believe of transitions that real text was hardly seen to make.

Axes of counts and probabilities: row 0 is begin, row 1 + i is type i; column j is type j, column K is the end. By
definition begin may be followed by any type, and a type by any type or the end.

Additive smoothing gives every successor the same constant, and where few documents were seen, or many types are there,
the latent PPL of whatever makes unseen transitions hangs on it. Backing off gives an unseen transition what its section
type has in all, and a type that was never seen there what is left to any:

    P(j | i) = (c_ij + a P(j)) / (c_i + a),        P(j) = (c_j + b / V) / (N + b)

(hierarchical Dirichlet; MacKay and Peto 1995). The weights a and b make documents likely that were left out of the
counts, each in turn: nothing is set by hand.
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
        Added to each count, >= 0.
    published
        Whether begin and end are among the successors of everything, as in the published code: V = K + 2; else K after
        begin and K + 1 after a type.
    """

    delta: float
    published: bool = False

    def probabilities(self, counts: Array) -> Array:
        """Rows of the possible successors; 0 where a row was never seen and nothing is added."""
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
    """Transition, then section type, then any type; see the module's head.

    Attributes
    ----------
    transitions, types
        a and b: how many observations the level below counts for, > 0.
    """

    transitions: float
    types: float

    def probabilities(self, counts: Array) -> Array:
        """Rows of the possible successors; each sums to 1, and none of them is 0."""
        below = np.array(self._types(counts.sum(axis=0), counts.sum()))
        below = np.tile(below, (len(counts), 1))
        below[0, -1] = 0.0
        below[0] /= below[0].sum()
        return (counts + self.transitions * below) / (counts.sum(axis=1, keepdims=True) + self.transitions)

    def _types(self, count: Array, total: "float | Array") -> Array:
        """P(j) from how often types were seen."""
        return (count + self.types / count.shape[-1]) / (np.asarray(total)[..., None] + self.types)


@dataclass(frozen=True)
class BackOffFit:
    """Weights, and whether one of them is at the edge of what was tried: then the documents do not tell it."""

    smoothing: BackOff
    at_edge: bool


def fit_back_off(sequences: Sequences, types: int) -> BackOffFit:
    """Weights under which documents are most likely, each left out of the counts in turn.

    Parameters
    ----------
    sequences
        Indices of section types, one sequence a document.
    types
        K.
    """
    from scipy.optimize import minimize  # slow to import, and most stages fit nothing

    terms = _left_out(sequences, types)

    def loss(logs: Array) -> float:
        return -float(terms.log_likelihood(BackOff(*np.exp(logs))))

    found = minimize(
        loss, np.zeros(2), method="Nelder-Mead", bounds=_LOG_BOUNDS, options={"xatol": 1e-3, "fatol": 1e-4}
    )
    edges = np.array(_LOG_BOUNDS)
    at_edge = bool((np.abs(found.x[:, None] - edges) < _AT_EDGE).any())
    return BackOffFit(BackOff(*(float(weight) for weight in np.exp(found.x))), at_edge)


@dataclass(frozen=True)
class _LeftOut:
    """Every different transition of every document, with what the other documents count.

    Attributes
    ----------
    times
        How often the document makes it.
    pair, row
        Others' counts of the transition, and of its previous type.
    type_, end, total
        Others' counts of the next type, of ends, and of all transitions.
    first
        Whether it is the document's first: no end can follow.
    width
        Number of types and the end.
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
        found = (self.pair + smoothing.transitions * below) / (self.row + smoothing.transitions)
        return float(self.times @ np.log(found))


def _left_out(sequences: Sequences, types: int) -> _LeftOut:
    steps = [transitions_of(sequence, types) for sequence in sequences]
    document = np.repeat(np.arange(len(steps)), [len(rows) for rows, _ in steps])
    row, column = (np.concatenate([some[which] for some in steps]) for which in (0, 1))
    width = types + 1
    pairs, number = np.unique(np.stack([document, row, column]), axis=1, return_counts=True)
    (document, row, column), times = pairs, number.astype(float)
    total = np.bincount(row * width + column, times, width * width)
    of_pair = total[row * width + column] - times
    of_row = _others(document, row, times, width)
    of_type = _others(document, column, times, width)
    length = np.bincount(document, times)
    of_end = total.reshape(width, width)[:, -1].sum() - 1.0  # every other document ends once
    return _LeftOut(
        times,
        of_pair,
        of_row,
        of_type,
        np.full(len(times), of_end),
        times.sum() - length[document],
        row == 0,
        width,
    )


def _others(document: NDArray[np.integer], key: NDArray[np.integer], times: Array, width: int) -> Array:
    """How often a key occurs in other documents."""
    both = document * width + key
    return np.bincount(key, times, width)[key] - np.bincount(both, times)[both]


def transitions_of(
    sequence: Sequence[int] | NDArray[np.integer], types: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of a document's M + 1 transitions; a type of -1 is unknown, and its two are left out."""
    states = np.asarray(sequence, dtype=np.int64)
    rows, columns = np.concatenate([[0], 1 + states]), np.concatenate([states, [types]])
    known = np.concatenate([[True], states >= 0]) & np.concatenate([states >= 0, [True]])
    return rows[known], columns[known]
