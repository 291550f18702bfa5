"""Tidy statistics: estimates, shares, rows of a comparison; files of rows with their corpus, system and critic."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope import __version__
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.proportions import wilson_interval
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")
SIGNIFICANT = 0.05
"""Adjusted p-value below which a difference is significant."""
ROWS = ["statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate", "reason"]
"""Columns of one system's statistics."""
COLUMNS = (
    "corpus",
    "system",
    "critic",
    "statistic",
    "value",
    "ci_low",
    "ci_high",
    "p_value",
    "n_reference",
    "n_candidate",
    "n_paired",
    "smallest_p",
    "seed",
    "signature",
    "reason",
)
"""Columns of tidy statistics; `reason` explains a value that is NaN."""
UNDEFINED: float = float("nan")
"""Value, end of an interval or p-value that does not exist."""


@dataclass(frozen=True)
class Estimate:
    """Value of a statistic with its uncertainty.

    Attributes
    ----------
    statistic
        Name of the statistic.
    value
        Its value; NaN if it is undefined.
    ci_low, ci_high
        Ends of its interval; NaN if it has none.
    p_value
        P-value of its test; NaN if it has none.
    """

    statistic: str
    value: float
    ci_low: float = UNDEFINED
    ci_high: float = UNDEFINED
    p_value: float = UNDEFINED


@dataclass(frozen=True)
class Pairing:
    """Pairs of a candidate's documents with documents of the reference.

    Attributes
    ----------
    n_paired
        Number of the candidate's paired documents.
    smallest_p
        Smallest p-value that permutations within pairs can give; NaN if no document is paired.
    """

    n_paired: int = 0
    smallest_p: float = UNDEFINED


NO_PAIRS = Pairing()


def find_pairs(reference: pd.DataFrame, candidate: pd.DataFrame, system: str) -> Pairing:
    """Return how many documents of a candidate are paired with real text, and log it.

    Parameters
    ----------
    reference, candidate
        `KEYS` of the documents, as far as they have them.
    system
        Name of the candidate, for the log.
    """
    permutation = build_permutation(reference, candidate)
    if not permutation.n_paired:
        return NO_PAIRS
    log.debug(  # for log files: tables have the number
        "%s: %d of %d texts are paired with real texts (same id or same opening); tests permute within pairs",
        system,
        permutation.n_paired,
        len(candidate),
    )
    return Pairing(permutation.n_paired, permutation.smallest_p)


def sized_row(estimate: Estimate, sizes: tuple[int, int]) -> dict[str, Any]:
    """Return the row of an estimate: its attributes, and the numbers of documents in reference and candidate."""
    return {**asdict(estimate), "n_reference": sizes[0], "n_candidate": sizes[1]}


def rows_table(estimates: Iterable[Estimate], sizes: tuple[int, int], reason: Callable[[str], str]) -> pd.DataFrame:
    """Build the table of one comparison's statistics; columns `ROWS`.

    Parameters
    ----------
    estimates
        Statistics of the comparison.
    sizes
        Numbers of documents in reference and candidate.
    reason
        Function of a statistic's name that returns why it is NaN; called only if it is.
    """
    rows = [
        {**sized_row(estimate, sizes), "reason": reason(estimate.statistic) if np.isnan(estimate.value) else ""}
        for estimate in estimates
    ]
    return pd.DataFrame(rows, columns=ROWS)


def shares_table(counts: Mapping[str, int], documents: int, confidence: float) -> pd.DataFrame:
    """Compute shares of a collection's documents, with Wilson's intervals; columns `ROWS`."""
    estimates = []
    for name, count in counts.items():
        low, high = wilson_interval(count, documents, confidence)
        estimates.append(Estimate(name, count / documents if documents else UNDEFINED, float(low), float(high)))
    return rows_table(estimates, (0, documents), lambda _: "no text")


def tidy_table(
    table: pd.DataFrame,
    *,
    corpus: str,
    system: str,
    critic: str,
    resampling: Resampling,
    signature: str,
    pairing: Pairing = NO_PAIRS,
) -> pd.DataFrame:
    """Build the tidy statistics of a system: `COLUMNS`.

    Parameters
    ----------
    table
        Columns statistic ... n_candidate; also `system` and `reason`, if they differ between rows.
    corpus, system, critic
        Names, the same for all rows.
    resampling
        Settings of intervals and p-values, for seed and signature.
    signature
        Signature of the critic's options.
    pairing
        Pairs of the system's documents with the reference's.
    """
    full_signature = "|".join(part for part in (f"macroscope:{__version__}", signature, resampling.signature) if part)
    common = {"corpus": corpus, "critic": critic, "seed": resampling.seed, "signature": full_signature}
    common |= asdict(pairing)
    default = {"system": system, "reason": ""}
    table = table.assign(**common, **{name: value for name, value in default.items() if name not in table})
    return table[list(COLUMNS)].fillna({"reason": ""})


def write_statistics(table: pd.DataFrame, output: Path, **about: Any) -> None:
    """Write the tidy statistics of a system; keyword arguments are those of `tidy_table`."""
    write_tidy(tidy_table(table, **about), output)


def write_tidy(table: pd.DataFrame, output: Path) -> None:
    """Write a table that is tidy already."""
    with atomic(output) as temporary:
        write_csv(table, temporary)
