"""A critic's T(x) / M of single documents against what people said of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.errors import MacroscopeError, nearest
from macroscope.statistics.document_correlation import DocumentCorrelation, correlate_documents
from macroscope.statistics.latent import Resampling
from macroscope.statistics.two_way_bootstrap import Estimate, TwoWay
from macroscope.tables import read_csv

OVER, WITHIN = "over systems", "within systems"
ANNOTATIONS = "annotations.csv"
COLUMNS = (
    *("question", "critic", "statistic", "documents_of"),
    *(f"{name}{end}" for name in ("pearson", "spearman", "disattenuated") for end in ("", "_low", "_high")),
    *("reliability", "documents", "annotators", "unmatched", "interval_over", "reason"),
)
"""`unmatched`: judged documents that the critic has no score of."""


def correlate_scores(collected: Path, scores: Mapping[str, Path], resampling: Resampling) -> pd.DataFrame:
    """Correlate critics' scores of documents with people's.

    Parameters
    ----------
    collected
        Folder that `macroscope human collect` wrote.
    scores
        Critic -> its folder of scores, `<system>.parquet` with `id`, `nll`, `units`.

    Returns
    -------
    data frame
        `COLUMNS`, a row a question, critic, and both over all documents and within systems (where there are several).
        T(x) / M is larger for a document that is less likely: agreement with people is a negative correlation.
    """
    table = read_annotations(collected)
    rows = []
    for critic, folder in scores.items():
        values = read_scores(folder, list(dict.fromkeys(table["system"])))
        for question, group in table.groupby("question", sort=False):
            known = pd.Series([(s, d) in values for s, d in zip(group["system"], group["document"], strict=True)])
            judged = group[known.to_numpy()]
            missing = group[["system", "document"]].drop_duplicates().shape[0]
            missing -= judged[["system", "document"]].drop_duplicates().shape[0]
            kinds = [OVER] + [WITHIN] * (judged["system"].nunique() > 1)
            for kind in kinds:
                found = _correlation(judged, values, kind == WITHIN, resampling)
                rows.append(_row(str(question), critic, kind, missing, found))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read_annotations(collected: Path) -> pd.DataFrame:
    """First answers of a collected study: question, annotator, system, document, score."""
    path = collected / ANNOTATIONS
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file; give the folder that `macroscope human collect` wrote")
    table = read_csv(path, dtype={"document": str, "system": str, "annotator": str}, keep_default_na=False)
    return table[~table["repeat"].astype(bool)]


def read_scores(folder: Path, systems: Sequence[str]) -> dict[tuple[str, str], float]:
    """T(x) / M of the documents of the systems that the folder has; undefined and infinite ones are left out."""
    found: dict[tuple[str, str], float] = {}
    paths = [(system, folder / f"{system}.parquet") for system in systems]
    if not any(path.exists() for _, path in paths):
        raise MacroscopeError(f"{folder}: no <system>.parquet of a judged system ({', '.join(systems)})")
    for system, path in paths:
        if not path.exists():
            continue
        table = pd.read_parquet(path)
        for column in ("id", "nll", "units"):
            if column not in table:
                raise MacroscopeError(f"{path}: no column '{column}'{nearest(column, map(str, table.columns))}")
        a_unit = table["nll"].to_numpy(float) / table["units"].to_numpy(float)
        for name, value in zip(table["id"].astype(str), a_unit, strict=True):
            if np.isfinite(value):
                found[system, name] = float(value)
    return found


def _correlation(
    judged: pd.DataFrame, values: Mapping[tuple[str, str], float], within: bool, resampling: Resampling
) -> DocumentCorrelation:
    documents = list(dict.fromkeys(zip(judged["system"], judged["document"], strict=True)))
    number = {document: n for n, document in enumerate(documents)}
    systems = {system: n for n, system in enumerate(dict.fromkeys(system for system, _ in documents))}
    rows = [number[one] for one in zip(judged["system"], judged["document"], strict=True)]
    people = np.unique(judged["annotator"], return_inverse=True)[1]
    return correlate_documents(
        np.array([values[document] for document in documents]),
        np.array([systems[system] if within else 0 for system, _ in documents], dtype=np.int64),
        judged["score"].to_numpy(float),
        TwoWay(people, np.array(rows, dtype=np.int64)),
        resampling,
    )


def _row(question: str, critic: str, kind: str, missing: int, found: DocumentCorrelation) -> tuple[Any, ...]:
    estimates: list[Estimate] = [found.pearson, found.spearman, found.disattenuated]
    numbers = [end for one in estimates for end in (one.value, one.low, one.high)]
    counts = (found.reliability, found.documents, found.annotators, missing)
    return (question, critic, "nll_per_unit", kind, *numbers, *counts, found.pearson.over, found.reason)
