"""Exported answers -> tables: scores with intervals, agreement, organisations, types against a classifier's, time."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.files import atomic
from macroscope.human.answers import Answer, Handed
from macroscope.human.means import mean_interval
from macroscope.human.questionnaire import Questionnaire
from macroscope.human.section_types import Types, confusion_table, organisations, type_agreement
from macroscope.statistics.agreement import Level, krippendorff
from macroscope.statistics.latent import Resampling
from macroscope.statistics.proportions import share_interval
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")
SECTION_TYPES = "section types"
"""Under this name the agreement on section types stands among the questions."""


def collect(
    key: dict[str, Any], handed: Handed, output: Path, resampling: Resampling, projected: Types | None = None
) -> dict[str, pd.DataFrame]:
    """Write all tables of a study into a folder.

    Parameters
    ----------
    projected
        (system, document) -> section types by a classifier; see `section_types.read_projections`.

    Returns
    -------
    dict
        Name of each table -> the table.
    """
    questionnaire = Questionnaire.model_validate(key["questionnaire"])
    table = annotations(handed.answers, questionnaire)
    tables = {
        "annotations": table,
        "systems": system_scores(table, questionnaire, resampling),
        "document_scores": document_scores(table),
        "agreement": agreement(table, handed.answers, questionnaire, resampling),
        "repeated": repeated(table, resampling),
        "times": times(handed.answers),
        "remarks": remarks(handed.answers, key["texts"]),
        "exclusions": pd.DataFrame(
            [(place, reason, count) for (place, reason), count in sorted(handed.excluded.items())],
            columns=["of", "reason", "count"],
        ),
    }
    tables["scores"] = tables["systems"][["question", "system", "mean"]].rename(columns={"mean": "score"})
    if questionnaire.section_types:
        tables["training"] = pd.DataFrame(handed.training, columns=["annotator", "document", "sections", "right"])
        tables["organisations"] = organisations(handed.answers, questionnaire)
        if projected is not None:
            tables["section_types"] = type_agreement(handed.answers, projected, resampling)
            tables["confusion"] = confusion_table(handed.answers, projected)
    with atomic(output) as folder:
        folder.mkdir()
        for name, one in tables.items():
            write_csv(one, folder / f"{name}.csv")
    for row in tables["exclusions"].itertuples(index=False):
        log.info("not counted: %s: %s (%d)", *row)
    return tables


def annotations(answers: list[Answer], questionnaire: Questionnaire) -> pd.DataFrame:
    """A row an answer and question."""
    rows = [
        (
            *(question.name, one.annotator, one.system, one.document, one.code, one.repeat),
            *(one.answers[question.name], question.scores[one.answers[question.name]]),
            *(one.reasons.get(question.name, ""), one.seconds),
        )
        for question in questionnaire.questions
        for one in answers
    ]
    columns = ["question", "annotator", "system", "document", "code", "repeat", "answer", "score", "reason", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def system_scores(table: pd.DataFrame, questionnaire: Questionnaire, resampling: Resampling) -> pd.DataFrame:
    """Mean score of each system, over the first time that each annotator saw each document."""
    rows = []
    bounds = {question.name: sorted(question.scores.values()) for question in questionnaire.questions}
    for (question, system), group in _first(table).groupby(["question", "system"], sort=False):
        scale = bounds[str(question)]
        found = mean_interval(group, scale, resampling)
        counts = (len(group), group["document"].nunique(), group["annotator"].nunique())
        rows.append((question, system, found.value, found.low, found.high, *counts, found.over))
    columns = [
        "question",
        "system",
        "mean",
        "ci_low",
        "ci_high",
        "annotations",
        "documents",
        "annotators",
        "interval_over",
    ]
    return pd.DataFrame(rows, columns=columns)


def document_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Mean score of each document over its annotators."""
    keys = ["question", "system", "document"]
    grouped = _first(table).groupby(keys, sort=False)["score"]
    return grouped.agg(score="mean", annotators="size").reset_index()


def agreement(
    table: pd.DataFrame, answers: list[Answer], questionnaire: Questionnaire, resampling: Resampling
) -> pd.DataFrame:
    """Krippendorff's alpha of each question, and of the section types."""
    first = _first(table)

    rows = []

    def row(question: str, level: Level, units: list[Any], values: list[Any]) -> tuple[Any, ...]:
        found = krippendorff(units, values, level, confidence=resampling.confidence)
        return (question, level, found.alpha, found.low, found.high, found.units, found.values, found.reason)

    for question in questionnaire.questions:
        group = first[first["question"] == question.name]
        units = list(zip(group["system"], group["document"], strict=True))
        rows.append(row(question.name, question.level, units, group["score"].tolist()))
    if questionnaire.section_types:
        shown = [one for one in answers if not one.repeat]
        sections = [(one.system, one.document, n) for one in shown for n in range(len(one.types))]
        rows.append(row(SECTION_TYPES, "nominal", sections, [kind for one in shown for kind in one.types]))
    columns = ["question", "level", "alpha", "ci_low", "ci_high", "units", "values", "reason"]
    return pd.DataFrame(rows, columns=columns)


def repeated(table: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """How far annotators agree with themselves on documents that they were shown twice."""
    rows = []
    for question, group in table.groupby("question", sort=False):
        keys = ["annotator", "system", "document"]
        pairs = group.pivot_table(index=keys, columns="repeat", values="score").reindex(columns=[False, True]).dropna()
        if pairs.empty:
            rows.append((question, 0, np.nan, np.nan, np.nan, np.nan, "nobody judged a text twice"))
            continue
        same = (pairs[False] == pairs[True]).astype(float)
        by_document = same.groupby(level=["system", "document"]).agg(["sum", "size"])
        share = share_interval(
            by_document["sum"].to_numpy(float), by_document["size"].to_numpy(float), resampling.confidence
        )
        rows.append((question, len(pairs), *share, float((pairs[False] - pairs[True]).abs().mean()), ""))
    columns = ["question", "pairs", "same", "ci_low", "ci_high", "mean_difference", "reason"]
    return pd.DataFrame(rows, columns=columns)


def times(answers: list[Answer]) -> pd.DataFrame:
    """Seconds a document, of each annotator and system."""
    table = pd.DataFrame(
        [(one.annotator, one.system, one.seconds) for one in answers], columns=["annotator", "system", "s"]
    )
    grouped = table.groupby(["annotator", "system"])["s"]
    return grouped.agg(documents="size", median_seconds="median", total_seconds="sum").reset_index()


def remarks(answers: list[Answer], texts: dict[str, list[list[str]]]) -> pd.DataFrame:
    """Marked sentences and comments; sections and sentences count from 1."""
    rows: list[tuple[Any, ...]] = []
    for one in answers:
        place = (one.annotator, one.system, one.document)
        for section, sentence in sorted(one.marks):
            rows.append((*place, "mark", section + 1, sentence + 1, texts[one.digest][section][sentence].strip()))
        if one.comment:
            rows.append((*place, "comment", None, None, one.comment))
    table = pd.DataFrame(rows, columns=["annotator", "system", "document", "kind", "section", "sentence", "text"])
    return table.astype({"section": "Int64", "sentence": "Int64"})


def _first(table: pd.DataFrame) -> pd.DataFrame:
    """Without the answers to repeated documents."""
    return table[~table["repeat"].astype(bool)]
