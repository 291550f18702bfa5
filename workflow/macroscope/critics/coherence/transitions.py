"""Section transitions: how often a system makes them, which of them are errors, and where (deng2022 App. E)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from macroscope.critics.coherence.prior import Array, SectionPrior, count_transitions
from macroscope.critics.coherence.sections import BEGIN, END
from macroscope.statistics.multiplicity import benjamini_hochberg
from macroscope.statistics.proportions import wilson_interval

Indices = NDArray[np.integer]
Sequences = Sequence[Sequence[int] | Indices]


def transition_table(
    sequences: Sequences, control: Sequences, prior: SectionPrior, threshold: float, confidence: float
) -> pd.DataFrame:
    """Every transition that the system or the control makes.

    Parameters
    ----------
    sequences, control
        State sequences (indices into `prior.types`) of the system and of the control.
    threshold
        A transition is an error where P_c(z_m | z_{m-1}) is below it.
    confidence
        Level of the intervals, between 0 and 1.

    Returns
    -------
    data frame
        previous, next, count, frequency (share of all transitions of the system), probability (count over the count
        of its row) with its Wilson interval probability_low and _high, the same as control_..., p_adjusted
        (Fisher's exact test that the two probabilities are equal, Benjamini-Hochberg over the table),
        prior_probability, error, repetition (a type that follows itself); the most frequent first. Frequencies and
        probabilities in [0, 1]; the probabilities of a type that a side never leaves are NaN.
    """
    own = count_transitions(sequences, len(prior.types))
    other = count_transitions(control, len(prior.types))
    expected = np.exp(prior.log_probabilities)
    rows, columns = np.nonzero(own + other)
    before, after = (BEGIN, *prior.types), (*prior.types, END)
    table = pd.DataFrame(
        {
            "previous": [before[i] for i in rows],
            "next": [after[j] for j in columns],
            "count": own[rows, columns].astype(int),
            **_shares(own, rows, columns, "", confidence),
            **_shares(other, rows, columns, "control_", confidence),
            "p_adjusted": benjamini_hochberg(_p_values(own, other, rows, columns)),
            "prior_probability": expected[rows, columns],
            "error": expected[rows, columns] < threshold,
            "repetition": rows == columns + 1,
        }
    )
    return table.sort_values(["count", "previous", "next"], ascending=[False, True, True], ignore_index=True)


def error_summary(table: pd.DataFrame) -> dict[str, float]:
    """Share of all transitions that are errors, and share of the errors that repeat a type (nan without errors)."""
    errors = table[table["error"]]
    total, wrong = table["count"].sum(), errors["count"].sum()
    repeated = errors.loc[errors["repetition"], "count"].sum()
    return {
        "transitions": int(total),
        "errors": int(wrong),
        "error_share": float(wrong / total),
        "repetition_share_of_errors": float(repeated / wrong) if wrong else float("nan"),
    }


def step_probabilities(sequence: Sequence[int] | Indices, prior: SectionPrior) -> Array:
    """P_c of each of the M + 1 transitions of one document, begin and end included."""
    probability = np.exp(prior.log_probabilities)
    rows = np.concatenate([[0], 1 + np.asarray(sequence)]).astype(int)
    columns = np.concatenate([sequence, [len(prior.types)]]).astype(int)
    return probability[rows, columns]


def _p_values(own: Array, other: Array, rows: Indices, columns: Indices) -> list[float]:
    """Fisher's exact test of each cell against the rest of its row; NaN where one side never leaves that type."""
    totals, control_totals = own.sum(axis=1), other.sum(axis=1)
    p_values = []
    for i, j in zip(rows, columns, strict=True):
        a, n, b, m = own[i, j], totals[i], other[i, j], control_totals[i]
        p_values.append(fisher_exact([[a, n - a], [b, m - b]]).pvalue if n and m else float("nan"))
    return p_values


def _shares(counts: Array, rows: Indices, columns: Indices, prefix: str, confidence: float) -> dict[str, Array]:
    """Share of each cell in all transitions, and in those of its row with its interval."""
    count, total = counts[rows, columns], counts.sum(axis=1)[rows]
    left = total > 0
    low, high = wilson_interval(count, total, confidence)
    return {
        f"{prefix}frequency": count / counts.sum(),
        f"{prefix}probability": np.divide(count, total, out=np.full_like(count, np.nan), where=left),
        f"{prefix}probability_low": np.where(left, low, np.nan),
        f"{prefix}probability_high": np.where(left, high, np.nan),
    }
