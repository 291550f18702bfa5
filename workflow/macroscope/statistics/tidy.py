"""Tidy statistics: rows of one comparison, and the file that says whose they are."""

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from macroscope import __version__
from macroscope.files import atomic
from macroscope.statistics.permutation_groups import permutation_of
from macroscope.statistics.proportions import wilson_interval
from macroscope.tables import write_csv

if TYPE_CHECKING:
    from macroscope.statistics.latent import Resampling

log = logging.getLogger("macroscope")
Row = tuple[str, float, float, float, float]
"""(statistic, value, ci_low, ci_high, p_value)"""
UNDEFINED = float("nan")
"""A value, an end of an interval or a p-value that there is none of."""
PARTNERS = "partners"
"""Key of the signature that says how many of the candidate's documents have partners in the reference."""
SMALLEST_P = "smallest_p"
"""Key of the signature, beside the former, of the smallest p-value that an exchange can give."""
SIGNIFICANT = 0.05
"""Adjusted p-value below which a difference is called one."""
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
    "seed",
    "signature",
    "reason",
)
"""Columns of tidy statistics; `reason` says why a value is NaN."""


def with_partners(signature: str, reference: pd.DataFrame, candidate: pd.DataFrame, system: str) -> str:
    """Signature that says how many documents have partners in real text, and the smallest p-value that they allow.

    The log says so too.

    Parameters
    ----------
    reference, candidate
        `KEYS` of the documents, as far as they have them.
    """
    permutation = permutation_of(reference, candidate)
    shared = permutation.partners
    if not shared:
        return signature
    log.info(
        "%s: %d of %d texts have partners in real text (the same id, or the same beginning): tested in pairs",
        system,
        shared,
        len(candidate),
    )
    return f"{signature}|{PARTNERS}:{shared}|{SMALLEST_P}:{permutation.smallest_p:.3g}"


def partners_in(signature: str) -> int:
    """How many of the candidate's documents have partners, by the signature of a statistic."""
    return int(_part(signature, PARTNERS) or 0)


def smallest_p_in(signature: str) -> float | None:
    """Smallest p-value that exchanging partners can give; None where nobody has any."""
    found = _part(signature, SMALLEST_P)
    return float(found) if found else None


def _part(signature: str, key: str) -> str:
    parts = (part.split(":", 1) for part in str(signature).split("|") if ":" in part)
    return dict(parts).get(key, "")


def value_only(name: str, value: float) -> Row:
    """Row of a value that has neither an interval nor a p-value."""
    return name, float(value), UNDEFINED, UNDEFINED, UNDEFINED


def undefined(name: str) -> Row:
    """Row of a statistic that there is no value of."""
    return name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED


def rows_table(rows: Iterable[Row], sizes: tuple[int, int], reason: Callable[[str], str]) -> pd.DataFrame:
    """Statistics of one comparison; columns `ROWS`.

    Parameters
    ----------
    sizes
        Numbers of documents in reference and candidate.
    reason
        Name of a statistic -> why it is NaN; asked only where it is.
    """
    full = [(*row, *sizes, reason(row[0]) if np.isnan(row[1]) else "") for row in rows]
    return pd.DataFrame(full, columns=ROWS)


def shares_table(counts: Mapping[str, int], documents: int, confidence: float) -> pd.DataFrame:
    """Shares of a collection's documents, with Wilson's intervals; columns `ROWS`."""
    rows: list[Row] = []
    for name, count in counts.items():
        low, high = wilson_interval(count, documents, confidence)
        rows.append((name, count / documents if documents else UNDEFINED, float(low), float(high), UNDEFINED))
    return rows_table(rows, (0, documents), lambda _: "no text")


def tidy_table(
    table: pd.DataFrame, *, corpus: str, system: str, critic: str, resampling: "Resampling", signature: str
) -> pd.DataFrame:
    """Tidy statistics of a system: `COLUMNS`.

    Parameters
    ----------
    table
        Columns statistic ... n_candidate; `system` and `reason` where they differ from row to row.
    signature
        Of the options of the critic.
    """
    whole = "|".join(part for part in (f"macroscope:{__version__}", signature, resampling.signature) if part)
    fixed = {"corpus": corpus, "critic": critic, "seed": resampling.seed, "signature": whole}
    default = {"system": system, "reason": ""}
    table = table.assign(**fixed, **{name: value for name, value in default.items() if name not in table})
    return table[list(COLUMNS)].fillna({"reason": ""})


def write_statistics(table: pd.DataFrame, output: Path, **about: Any) -> None:
    """Write tidy statistics of a system; parameters as of `tidy_table`."""
    write_tidy(tidy_table(table, **about), output)


def write_tidy(table: pd.DataFrame, output: Path) -> None:
    """Write statistics that are tidy."""
    with atomic(output) as temporary:
        write_csv(table, temporary)
