"""Human ratings of single documents, or of pairs of documents, correlated with critics' values of them.

Ratings are CSV with the columns `document`, `system`, `score` and, if known, `annotator` and `question`; a larger score
is better. `against` names the system whose text of the same document (of the same prompt, say) the text was compared
with. The score is then positive if `system` was preferred, negative if the other one was, and 0 for a tie. A folder
written by `macroscope human collect` is read as well.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.crossed_bootstrap import CrossedRatings
from macroscope.statistics.document_correlation import DocumentCorrelation, correlate_documents
from macroscope.statistics.judgements import AGAINST, ANNOTATIONS, DOCUMENT, ONLY_QUESTION, read_rows
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.tables import read_csv

OVER, WITHIN = "over systems", "within systems"
UNKNOWN_ANNOTATOR = "not known"
RATINGS = ("question", "system", AGAINST, DOCUMENT, "annotator", "score")
_KEYS = ["system", AGAINST, DOCUMENT]
_TESTED = ("pearson", "spearman", "partial_pearson", "partial_spearman")
COLUMNS = (
    *("question", "critic", "statistic", "documents_of"),
    *(f"{name}{end}" for name in _TESTED for end in ("", "_low", "_high", "_p_value", "_p_adjusted")),
    *("disattenuated", "disattenuated_low", "disattenuated_high", "reliability"),
    *("documents", "annotators", "unmatched", "interval_over", "reason"),
)
"""`partial_`: given the number of words; `documents`: number of documents or pairs; `unmatched`: number of rated ones
without a value of the critic."""


def read_ratings(table: str) -> pd.DataFrame:
    """Read ratings from a CSV file, or from a folder written by `macroscope human collect`: `RATINGS`.

    Answers to repeated texts of a study are dropped. Several scores by the same annotator of a file for the same
    document or pair become one rating, their mean, since they say nothing about the agreement of people. So do scores
    of unknown annotators. Of two systems that were compared, `system` is the first by name, in whichever order the file
    names them.

    Raises
    ------
    MacroscopeError
        If a column is missing or empty, a system is compared with itself, or a question mixes ratings and comparisons.
    """
    path = Path(table)
    if path.is_dir():
        return _read_study(path / ANNOTATIONS)
    rows = []
    for row, score in read_rows(path):
        for column in (DOCUMENT, "system"):
            if not row.get(column):
                raise MacroscopeError(
                    f"{path}: a row without '{column}'; ratings have the columns document, system, score and, if known,"
                    " annotator, question and against"
                )
        system, against = row["system"], row.get(AGAINST, "")
        if system == against:
            raise MacroscopeError(f"{path}: '{system}' is compared with itself; 'against' names the other system")
        if against and against < system:
            system, against, score = against, system, -score
        annotator = row.get("annotator") or UNKNOWN_ANNOTATOR
        rows.append((row.get("question") or ONLY_QUESTION, system, against, row[DOCUMENT], annotator, score))
    ratings = pd.DataFrame(rows, columns=list(RATINGS))
    compared = ratings.assign(pair=ratings[AGAINST] != "").groupby("question")["pair"].nunique()
    if (compared > 1).any():
        raise MacroscopeError(
            f"{path}: some rows of the question '{compared.idxmax()}' compare two texts, others rate one; split it into"
            " two questions"
        )
    return ratings.groupby(list(RATINGS[:-1]), sort=False, as_index=False)["score"].mean()


def rename_systems(ratings: pd.DataFrame, mapping: Mapping[str, str]) -> pd.DataFrame:
    """Select the ratings of the systems of a run, under its names; `mapping` is system -> name in the ratings."""
    parts = []
    for system, name in mapping.items():
        for against, name_of_against in {**mapping, "": ""}.items():
            rows = (ratings["system"] == name) & (ratings[AGAINST] == name_of_against)
            parts.append(ratings[rows].assign(**{"system": system, AGAINST: against}))
    return pd.concat(parts, ignore_index=True)


def correlate_ratings(
    ratings: pd.DataFrame, values: pd.DataFrame, resampling: Resampling, lengths: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Correlate critics' values of single documents with human ratings of them.

    Parameters
    ----------
    ratings
        `RATINGS`.
    values
        Columns critic, statistic, system, document, value (finite).
    resampling
        Settings of the intervals.
    lengths
        Columns system, document, words, for the correlations given length.

    Returns
    -------
    data frame
        `COLUMNS`, one row per question, critic and statistic, over all documents and, if there are several systems,
        within systems; for compared texts, over all pairs and within pairs of systems. p-values are adjusted
        (Benjamini-Hochberg) over all rows of a question with the same `documents_of`.
    """
    rows = []
    words_of = {} if lengths is None else lengths.set_index(["system", "document"])["words"].to_dict()
    for (critic, statistic), group_of_values in values.groupby(["critic", "statistic"], sort=False):
        value_of = group_of_values.set_index(["system", "document"])["value"].to_dict()
        for question, group in ratings.groupby("question", sort=False):
            units, matched = _match_ratings(group, value_of, words_of)
            missing = len(group[_KEYS].drop_duplicates()) - len(units)
            has_several = group[["system", AGAINST]].drop_duplicates().shape[0] > 1 or bool(
                (group[AGAINST] != "").any()
            )
            for kind in [OVER, WITHIN][: 1 + has_several]:
                correlation = _correlation(units, matched, kind, resampling)
                rows.append(_row((question, critic, statistic, kind), missing, correlation))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in _TESTED:
        for _, group in table.groupby(["question", "documents_of"], sort=False):
            table.loc[group.index, f"{name}_p_adjusted"] = benjamini_hochberg(group[f"{name}_p_value"])
    return table


def _read_study(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file; give the folder that `macroscope human collect` wrote")
    table = read_csv(path, dtype={"document": str, "system": str, "annotator": str}, keep_default_na=False)
    return table[~table["repeat"].astype(bool)].assign(**{AGAINST: ""})[list(RATINGS)]


def _match_ratings(
    group: pd.DataFrame, value_of: Mapping[tuple[str, str], float], words_of: Mapping[tuple[str, str], float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rated documents or pairs with the critic's values and the words of them, and their ratings."""
    units = group[_KEYS].drop_duplicates().reset_index(drop=True)
    units = units.assign(value=_look_up(units, value_of), words=_look_up(units, words_of))
    units = units.dropna(subset="value").reset_index(drop=True)
    units["number"] = np.arange(len(units))
    return units, group.merge(units, on=_KEYS)


def _look_up(units: pd.DataFrame, number_of: Mapping[tuple[str, str], float]) -> NDArray[np.float64]:
    """Return a number of every document, or the difference between the two of a pair; NaN if one is unknown."""
    numbers = [
        number_of.get((system, document), np.nan) - (number_of.get((against, document), np.nan) if against else 0.0)
        for system, against, document in units[_KEYS].itertuples(index=False)
    ]
    return np.array(numbers, dtype=float)


def _correlation(units: pd.DataFrame, matched: pd.DataFrame, kind: str, resampling: Resampling) -> DocumentCorrelation:
    groups = np.zeros(len(units), dtype=np.int64)
    if kind == WITHIN:
        groups = units.groupby(["system", AGAINST]).ngroup().to_numpy(np.int64)
    compared = bool((units[AGAINST] != "").any())
    return correlate_documents(
        units["value"].to_numpy(float),
        None if compared and kind == OVER else groups,
        matched["score"].to_numpy(float),
        CrossedRatings(np.unique(matched["annotator"], return_inverse=True)[1], matched["number"].to_numpy(np.int64)),
        resampling,
        units["words"].to_numpy(float),
    )


def _row(labels: tuple[Any, ...], missing: int, correlation: DocumentCorrelation) -> tuple[Any, ...]:
    tested = [
        part
        for estimate in (getattr(correlation, name) for name in _TESTED)
        for part in (estimate.value, estimate.low, estimate.high, estimate.p_value, float("nan"))
    ]
    disattenuated = (
        correlation.disattenuated.value,
        correlation.disattenuated.low,
        correlation.disattenuated.high,
        correlation.reliability,
    )
    return (
        *labels,
        *tested,
        *disattenuated,
        correlation.documents,
        correlation.annotators,
        missing,
        correlation.pearson.over,
        correlation.reason,
    )
