"""Section transitions: frequencies, errors, and differences between system and control (deng2022 App. E).

Transitions within a document are dependent: a document that loops makes the same error ten times. The units of
resampling and permutation are therefore documents with all their transitions.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from macroscope.critics.coherence.prior import SectionPrior
from macroscope.critics.coherence.sections import BEGIN, END
from macroscope.critics.coherence.smoothing import Array, Sequences
from macroscope.options import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import MANY
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import clustered_interval
from macroscope.statistics.ratio import STUDENTISED_TIE

Indices = NDArray[np.integer]
_AT_ONCE = 256
STATISTICS = (
    Statistic(
        "transition_probability",
        "probability of the next section type, given the previous one",
        "the same probability of the next section type, given the previous one, in the system and in real text",
    ),
)


def build_transition_table(
    candidate: Sequences,
    reference: Sequences,
    prior: SectionPrior,
    threshold: float,
    resampling: Resampling,
    permutation: Permutation,
) -> pd.DataFrame:
    """Tabulate every transition that occurs in the candidate or in the reference.

    Parameters
    ----------
    candidate, reference
        State sequences (indices into `prior.types`) of the documents of the candidate and of the reference.
    threshold
        Value of P_c(z_m | z_{m-1}) below which a transition is an error.
    permutation
        Permutation of the documents of the reference and the candidate.

    Returns
    -------
    data frame
        previous, next, count, documents (number of documents of the candidate with it), frequency (share of all
        transitions of the candidate), probability (count over the count of its row) with its interval probability_low
        and _high, the same of the reference as reference_..., p_value (null hypothesis: equal probabilities; documents
        are permuted), p_adjusted (Benjamini-Hochberg over the table), prior_probability, error, repetition (a type that
        follows itself); the most frequent first. Frequencies and probabilities in [0, 1]; probabilities are NaN if no
        transition of the collection starts from the previous type.
    """
    counts = [_TransitionCounts(documents, len(prior.types)) for documents in (reference, candidate)]
    cells = np.flatnonzero(counts[0].total + counts[1].total)
    rows, columns = np.divmod(cells, len(prior.types) + 1)
    expected = np.exp(prior.log_probabilities)
    p = compute_p_values(counts[0], counts[1], cells, rows, permutation, resampling)
    before, after = (BEGIN, *prior.types), (*prior.types, END)
    table = pd.DataFrame(
        {
            "previous": [before[i] for i in rows],
            "next": [after[j] for j in columns],
            "count": counts[1].total[cells].astype(int),
            "documents": counts[1].documents[cells].astype(int),
            **counts[1].shares(cells, rows, "", resampling.confidence),
            **counts[0].shares(cells, rows, "reference_", resampling.confidence),
            "p_value": p,
            "p_adjusted": benjamini_hochberg(p),
            "prior_probability": expected[rows, columns],
            "error": expected[rows, columns] < threshold,
            "repetition": rows == columns + 1,
        }
    )
    return table.sort_values(["count", "previous", "next"], ascending=[False, True, True], ignore_index=True)


class _TransitionCounts:
    """Transition counts, as sparse matrices documents x cells (previous x next) and documents x previous."""

    def __init__(self, sequences: Sequences, types: int) -> None:
        width, n = types + 1, len(sequences)
        document, rows, columns = _locate_transitions(sequences, types)
        ones = np.ones(len(rows))
        self.cells = sparse.csr_matrix((ones, (document, rows * width + columns)), shape=(n, width * width))
        self.rows = sparse.csr_matrix((ones, (document, rows)), shape=(n, width))
        self.total = _sum_columns(self.cells)
        self.left = _sum_columns(self.rows)
        self.documents = _sum_columns(self.cells > 0)
        self.leaving = _sum_columns(self.rows > 0)
        self.squared = _sum_columns(self.rows.multiply(self.rows))

    def shares(self, cells: Indices, rows: Indices, prefix: str, confidence: float) -> dict[str, Array]:
        """Return the share of each cell in all transitions, and in its row with an interval over documents."""
        made, left = self.total[cells], self.left[rows]
        there = left > 0
        share = np.divide(made, left, out=np.full_like(made, np.nan), where=there)
        y = self.cells[:, cells]
        times, failing = _multiply_by_rows(y, self.rows, rows)
        squares = _sum_columns(y.multiply(y)) - 2 * share * _sum_columns(times) + share**2 * self.squared[rows]
        low, high = clustered_interval(
            made,
            left,
            np.maximum(np.nan_to_num(squares), 0.0),
            self.squared[rows],
            self.leaving[rows],
            np.minimum(self.documents[cells], self.leaving[rows] - (y.getnnz(axis=0) - failing)),
            confidence,
        )
        return {
            f"{prefix}frequency": made / self.total.sum(),
            f"{prefix}probability": share,
            f"{prefix}probability_low": np.where(there, low, np.nan),
            f"{prefix}probability_high": np.where(there, high, np.nan),
        }


def compute_p_values(
    reference: _TransitionCounts,
    candidate: _TransitionCounts,
    cells: Indices,
    rows: Indices,
    permutation: Permutation,
    resampling: Resampling,
) -> Array:
    """Compute a two-tailed permutation p-value of each cell; null hypothesis: equal shares of its row.

    Documents are permuted. The difference of the shares is studentised by the residuals from the pooled share, with
    documents as units; see `statistics.ratio`. NaN if a collection has no transitions in the row.
    """
    y = sparse.vstack([reference.cells[:, cells], candidate.cells[:, cells]]).tocsr()
    x = sparse.vstack([reference.rows, candidate.rows]).tocsr()
    share = _sum_columns(y) / np.maximum(_sum_columns(x)[rows], 1.0)
    moments = sparse.hstack([y, y.multiply(y), _multiply_by_rows(y, x, rows)[0], x, x.multiply(x)]).tocsr()
    ends = np.cumsum([len(cells)] * 3 + [x.shape[1]])
    total = _sum_columns(moments)

    def studentised(first: Array) -> Array:
        made, made2, both, left, left2 = np.split(np.stack([first, total - first]), ends, axis=-1)
        left, left2 = left[..., rows], left2[..., rows]
        residual = made - share * left
        squares = np.maximum(made2 - 2 * share * both + share**2 * left2, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = np.abs(residual[0] / left[0] - residual[1] / left[1])
            statistic = difference / np.sqrt((squares / left**2).sum(axis=0))
        return np.nan_to_num(statistic, nan=0.0, posinf=np.finfo(float).max)

    observed = studentised(moments.T @ np.repeat([1.0, 0.0], permutation.sizes))
    reached, permutations = np.zeros(len(cells)), 0
    for first in _permuted(moments, permutation, resampling):
        reached += (studentised(first) >= observed - STUDENTISED_TIE * np.maximum(observed, 1.0)).sum(axis=0)
        permutations += len(first)
    unseen = 0 if permutation.is_exact(resampling.permutations) else 1
    defined = (reference.left[rows] > 0) & (candidate.left[rows] > 0)
    return np.where(defined, (reached + unseen) / (permutations + unseen), np.nan)


def _permuted(moments: sparse.csr_matrix, permutation: Permutation, resampling: Resampling) -> Iterator[Array]:
    """Yield sums over the first sample after permutations, in batches; of many documents, bundles are permuted."""
    rng = np.random.default_rng(resampling.seed)
    if permutation.units > MANY and not permutation.is_exact(resampling.permutations):
        n = permutation.sizes[0]
        first, _ = permutation.permuted_sums(moments[:n], moments[n:], resampling.permutations, rng)
        yield from (first[start : start + _AT_ONCE] for start in range(0, len(first), _AT_ONCE))
        return
    by_moment = moments.T.tocsr()
    for inside in permutation.memberships(resampling.permutations, rng, _AT_ONCE):
        yield (by_moment @ inside.T).T


def _locate_transitions(sequences: Sequences, types: int) -> tuple[Indices, Indices, Indices]:
    """Return document, row and column of all transitions, documents concatenated; see `smoothing.index_transitions`."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    ends = np.cumsum(lengths + 1)
    steps = int(ends[-1]) if len(ends) else 0
    rows, columns, inside = np.zeros(steps, np.int64), np.full(steps, types), np.ones(steps, dtype=bool)
    inside[ends - 1] = False
    columns[inside] = np.concatenate([np.empty(0, np.int64), *sequences])
    rows[1:][inside[:-1]] = columns[:-1][inside[:-1]] + 1
    begins = np.concatenate([[True], ~inside[:-1]])[:steps]
    is_known = (columns >= 0) & ((rows > 0) | begins)
    document = np.repeat(np.arange(len(lengths)), lengths + 1)
    return document[is_known], rows[is_known], columns[is_known]


def _multiply_by_rows(y: sparse.csr_matrix, x: sparse.csr_matrix, rows: Indices) -> tuple[sparse.csr_matrix, Array]:
    """Multiply each document's count of a cell by that of the cell's row; count the documents in which they differ.

    Parameters
    ----------
    y, x
        Counts: documents x cells, and documents x previous types.
    rows
        Previous type of each cell.
    """
    counts = y.tocoo()
    of_row = np.asarray(x[counts.row, rows[counts.col]]).ravel()
    times = sparse.csr_matrix((counts.data * of_row, (counts.row, counts.col)), shape=y.shape)
    return times, np.bincount(counts.col, of_row > counts.data, y.shape[1]).astype(float)


def _sum_columns(matrix: sparse.spmatrix) -> Array:
    return np.asarray(matrix.sum(axis=0), dtype=float).ravel()
