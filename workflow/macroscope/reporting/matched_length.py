"""Comparisons at matched length: columns of the scorecard, the table of what was cut, and sentences about both."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from macroscope.gaps import Gap, describe_gaps
from macroscope.options import LENGTH, matched_reference, matched_system
from macroscope.reporting.formats import look_up_estimate
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.pairs import mover_difference
from macroscope.systems.length_matching import TEXTS, WORDS
from macroscope.tables import read_if_any

if TYPE_CHECKING:
    from macroscope.runs.results import Results

FILE = "matched_length.csv"
MATCHED, EXPLAINED = "matched", "explained"
_CELL = {
    "verdict": "verdict",
    "explanation": "explanation",
    "value": "c2st_auc",
    "ci_low": "ci_low",
    "ci_high": "ci_high",
    "p_value": "p_value",
    "smallest": "smallest",
    "n_reference": "n_reference",
    "n_candidate": "n_candidate",
    "tests": "tests",
    "different": "different",
}
"""Column of a row of statistics with its verdict -> column of the scorecard, at matched length with a prefix."""
MATCHED_COLUMNS: tuple[str, ...] = (
    *(f"{MATCHED}_{column}" for column in _CELL.values()),
    *(EXPLAINED, f"{EXPLAINED}_low", f"{EXPLAINED}_high"),
)
"""Columns of the scorecard at matched length; `explained`: `c2st_auc` minus that at matched length."""
_OF_SYSTEM, _OF_REAL = "system", "real"
_CUT = tuple(
    f"{prefix}_{what}" for prefix in (_OF_SYSTEM, _OF_REAL) for what in ("texts", "texts_cut", "words", "words_cut")
)
COLUMNS = (
    "corpus",
    "system",
    *_CUT,
    *(f"{which}{end}" for which in (LENGTH, f"{MATCHED}_{LENGTH}") for end in ("", "_low", "_high")),
)
"""Columns of the table: numbers of texts and words of both sides and of those that are cut; detectability by the number
of words alone, as the texts are and at matched length."""


def matched_columns(row: Mapping[str, Any], matched: Mapping[str, Any], confidence: float) -> dict[str, Any]:
    """Return `MATCHED_COLUMNS` from the rows of `c2st_auc` of a system, as it is and at matched length.

    The interval of the difference takes the two estimates as independent, which makes it too long rather than too
    short: both are of the same texts.
    """
    as_it_is, at_matched = [(each["value"], each["ci_low"], each["ci_high"]) for each in (row, matched)]
    value, low, high, _ = mover_difference(as_it_is, at_matched, confidence)
    columns = {f"{MATCHED}_{column}": matched[name] for name, column in _CELL.items()}
    return columns | {EXPLAINED: value, f"{EXPLAINED}_low": low, f"{EXPLAINED}_high": high}


def cell_at_matched_length(cell: pd.Series) -> pd.Series | None:
    """Return a cell of the scorecard with the numbers at matched length in place of its own; None without them."""
    if not isinstance(cell.get(f"{MATCHED}_verdict"), str):
        return None
    return pd.Series({**cell, **{column: cell[f"{MATCHED}_{column}"] for column in _CELL.values()}})


def matched_lengths_table(results: "Results", statistics: pd.DataFrame) -> pd.DataFrame:
    """Build the table of the systems at matched length: `COLUMNS`; empty if the config compares none so."""
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    counts = {
        (corpus, system): {count.filter: count for count in provenance.counts}
        for corpus, system, provenance in results.samples()
    }
    rows = []
    for corpus, system in results.contents.matched:
        row: dict[str, Any] = {"corpus": corpus, "system": system}
        for prefix, name in ((_OF_SYSTEM, matched_system(system)), (_OF_REAL, matched_reference(system))):
            for what, counted in (("texts", TEXTS), ("words", WORDS)):
                count = counts[corpus, name][counted]
                row |= {f"{prefix}_{what}": count.kept + count.dropped, f"{prefix}_{what}_cut": count.dropped}
        row |= look_up_estimate(indexed, (corpus, system, LENGTH, C2ST_AUC), LENGTH)
        row |= look_up_estimate(indexed, (corpus, matched_system(system), LENGTH, C2ST_AUC), f"{MATCHED}_{LENGTH}")
        rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read_matched_lengths(tables: Path) -> pd.DataFrame:
    """Read the table of the systems at matched length from the folder of the tables; empty if there is none."""
    return read_if_any(tables / FILE, COLUMNS)


def describe_lengths(table: pd.DataFrame, scorecard: pd.DataFrame, unmatched: Sequence[Gap]) -> list[str]:
    """Describe in sentences how much of each system's difference length explains, and which critics cannot tell.

    Parameters
    ----------
    table
        Table of `matched_lengths_table`.
    scorecard
        Scorecard table.
    unmatched
        Critics that compare no texts at matched length.
    """
    several = table["corpus"].nunique() > 1
    sentences = []
    for row in table.to_dict("records"):
        cells = scorecard[(scorecard["corpus"] == row["corpus"]) & (scorecard["system"] == row["system"])]
        name = f"{row['system']} on {row['corpus']}" if several else row["system"]
        sentences.append(f"{name}: {' '.join(_describe_system(row, cells))}")
    return [*sentences, *describe_gaps(unmatched)]


def _describe_system(row: Mapping[str, Any], cells: pd.DataFrame) -> Iterator[str]:
    by_length, by_matched_length = _interval(row, LENGTH), _interval(row, f"{MATCHED}_{LENGTH}")
    yield f"by the number of words alone, detectability is {by_length}, at matched length {by_matched_length}."
    yield (
        f"For that, {_cuts(row, _OF_REAL)} real texts and {_cuts(row, _OF_SYSTEM)} of the system's texts are cut:"
        f" {_share(row, _OF_REAL)} and {_share(row, _OF_SYSTEM)} of their words."
    )
    compared = cells[cells[EXPLAINED].notna()].sort_values("c2st_auc", ascending=False, kind="stable")
    if changes := [_describe_change(cell) for cell in compared.to_dict("records")]:
        yield f"Length explains, by critic: {'; '.join(changes)}."


def _describe_change(cell: Mapping[str, Any]) -> str:
    value, low, high = (_points(cell[f"{EXPLAINED}{end}"]) for end in ("", "_low", "_high"))
    before, after = _percent(cell["c2st_auc"]), _percent(cell[f"{MATCHED}_c2st_auc"])
    return f"{cell['critic']} {value} points [{low}, {high}], from {before} to {after} %"


def _interval(row: Mapping[str, Any], name: str) -> str:
    if pd.isna(row[name]):
        return "not defined (too few texts)"
    return f"{_percent(row[name])} % [{_percent(row[f'{name}_low'])}, {_percent(row[f'{name}_high'])}]"


def _cuts(row: Mapping[str, Any], prefix: str) -> str:
    return f"{int(row[f'{prefix}_texts_cut']):,} of {int(row[f'{prefix}_texts']):,}"


def _share(row: Mapping[str, Any], prefix: str) -> str:
    words = row[f"{prefix}_words"]
    return f"{_percent(row[f'{prefix}_words_cut'] / words if words else 0.0)} %"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _points(difference: float) -> str:
    return f"{round(100 * difference)}"
