"""What people said of single documents, or of two that they compared, against what a critic has of each.

Ratings are CSV with the columns `document`, `system`, `score` and, where they are known, `annotator` and `question`; a
larger score is better. `against` names the system whose text of the same document (the same prompt, say) the text was
compared with: the score is then positive where `system` was preferred, negative where the other one was, and 0 for a
tie. A folder that `macroscope human collect` wrote is read as well.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.errors import MacroscopeError
from macroscope.statistics.crossed_bootstrap import TwoWay
from macroscope.statistics.document_correlation import DocumentCorrelation, correlate_documents
from macroscope.statistics.judgements import AGAINST, ANNOTATIONS, DOCUMENT, ONLY_QUESTION, read_rows
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.tables import read_csv

OVER, WITHIN = "over systems", "within systems"
UNKNOWN_ANNOTATOR = "not known"
RATINGS = ("question", "system", AGAINST, DOCUMENT, "annotator", "score")
_KEYS = ["system", AGAINST, DOCUMENT]
_TESTED = ("pearson", "spearman")
COLUMNS = (
    *("question", "critic", "statistic", "documents_of"),
    *(f"{name}{end}" for name in _TESTED for end in ("", "_low", "_high", "_p_value", "_p_adjusted")),
    *("disattenuated", "disattenuated_low", "disattenuated_high", "reliability"),
    *("documents", "annotators", "unmatched", "interval_over", "reason"),
)
"""`documents`: their number, or that of pairs; `unmatched`: judged ones that the critic has no value of."""


def read_ratings(table: str) -> pd.DataFrame:
    """Ratings from a CSV file, or from a folder that `macroscope human collect` wrote: `RATINGS`.

    Of a study, the first answers count, not those to repeated texts. Several scores that an annotator of a file gave to
    the same document or pair are one rating, their mean: they say nothing of how far people agree. So are those of
    annotators who are not known. Of two systems that were compared, `system` is the first by name, whichever the file
    names first.
    """
    path = Path(table)
    if path.is_dir():
        return _of_study(path / ANNOTATIONS)
    rows = []
    for row, score in read_rows(path):
        for column in (DOCUMENT, "system"):
            if not row.get(column):
                raise MacroscopeError(
                    f"{path}: no '{column}' in some row; ratings have the columns document, system, score and, where"
                    " they are known, annotator, question and against"
                )
        one, other = row["system"], row.get(AGAINST, "")
        if one == other:
            raise MacroscopeError(f"{path}: '{one}' is compared with itself; 'against' names the other system")
        if other and other < one:
            one, other, score = other, one, -score
        annotator = row.get("annotator") or UNKNOWN_ANNOTATOR
        rows.append((row.get("question") or ONLY_QUESTION, one, other, row[DOCUMENT], annotator, score))
    found = pd.DataFrame(rows, columns=list(RATINGS))
    compared = found.assign(pair=found[AGAINST] != "").groupby("question")["pair"].nunique()
    if (compared > 1).any():
        raise MacroscopeError(
            f"{path}: some rows of '{compared.idxmax()}' compare two texts, others rate one; split it"
        )
    return found.groupby(list(RATINGS[:-1]), sort=False, as_index=False)["score"].mean()


def named(ratings: pd.DataFrame, mapping: Mapping[str, str]) -> pd.DataFrame:
    """Ratings of the systems of a run: `mapping` is system -> name in the ratings; others are left out."""
    parts = []
    for system, name in mapping.items():
        for other, against in {**mapping, "": ""}.items():
            chosen = (ratings["system"] == name) & (ratings[AGAINST] == against)
            parts.append(ratings[chosen].assign(**{"system": system, AGAINST: other}))
    return pd.concat(parts, ignore_index=True)


def correlate_ratings(ratings: pd.DataFrame, values: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Correlate everything that critics have of single documents with people's ratings of them.

    Parameters
    ----------
    ratings
        `RATINGS`.
    values
        critic, statistic, system, document, value (finite).

    Returns
    -------
    data frame
        `COLUMNS`, a row a question, critic, statistic, and both over all documents and within systems (where there are
        several); of compared texts, over all pairs and within pairs of systems. p-values are adjusted
        (Benjamini-Hochberg) over all rows of a question with the same `documents_of`.
    """
    rows = []
    for (critic, statistic), some in values.groupby(["critic", "statistic"], sort=False):
        known = some.set_index(["system", "document"])["value"].to_dict()
        for question, group in ratings.groupby("question", sort=False):
            units, judged = _judged(group, known)
            missing = len(group[_KEYS].drop_duplicates()) - len(units)
            several = group[["system", AGAINST]].drop_duplicates().shape[0] > 1 or bool((group[AGAINST] != "").any())
            for kind in [OVER, WITHIN][: 1 + several]:
                found = _correlation(units, judged, kind, resampling)
                rows.append(_row((question, critic, statistic, kind), missing, found))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in _TESTED:
        for _, group in table.groupby(["question", "documents_of"], sort=False):
            table.loc[group.index, f"{name}_p_adjusted"] = benjamini_hochberg(group[f"{name}_p_value"])
    return table


def _of_study(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file; give the folder that `macroscope human collect` wrote")
    table = read_csv(path, dtype={"document": str, "system": str, "annotator": str}, keep_default_na=False)
    return table[~table["repeat"].astype(bool)].assign(**{AGAINST: ""})[list(RATINGS)]


def _judged(group: pd.DataFrame, known: Mapping[tuple[str, str], float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rated documents or pairs of which the critic has values, with these; and their ratings."""
    units = group[_KEYS].drop_duplicates().reset_index(drop=True)
    first = np.array([known.get(key, np.nan) for key in zip(units["system"], units[DOCUMENT], strict=True)])
    other = np.array(
        [
            known.get((against, document), np.nan) if against else 0.0
            for against, document in zip(units[AGAINST], units[DOCUMENT], strict=True)
        ]
    )
    units = units.assign(value=first - other).dropna(subset="value").reset_index(drop=True)
    units["number"] = np.arange(len(units))
    return units, group.merge(units, on=_KEYS)


def _correlation(units: pd.DataFrame, judged: pd.DataFrame, kind: str, resampling: Resampling) -> DocumentCorrelation:
    groups = np.zeros(len(units), dtype=np.int64)
    if kind == WITHIN:
        groups = units.groupby(["system", AGAINST]).ngroup().to_numpy(np.int64)
    compared = bool((units[AGAINST] != "").any())
    return correlate_documents(
        units["value"].to_numpy(float),
        None if compared and kind == OVER else groups,
        judged["score"].to_numpy(float),
        TwoWay(np.unique(judged["annotator"], return_inverse=True)[1], judged["number"].to_numpy(np.int64)),
        resampling,
    )


def _row(about: tuple[Any, ...], missing: int, found: DocumentCorrelation) -> tuple[Any, ...]:
    tested = [
        part
        for one in (found.pearson, found.spearman)
        for part in (one.value, one.low, one.high, one.p_value, float("nan"))
    ]
    mended = (found.disattenuated.value, found.disattenuated.low, found.disattenuated.high, found.reliability)
    return (*about, *tested, *mended, found.documents, found.annotators, missing, found.pearson.over, found.reason)
