"""Tables from answers: scores with intervals, agreement, organisations, types compared with a classifier, times."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.files import atomic
from macroscope.human.answers import Answer, CollectedAnswers
from macroscope.human.questionnaire import Questionnaire
from macroscope.human.section_types import Types, confusion_table, organisations, type_agreement
from macroscope.options import Resampling
from macroscope.statistics.agreement import Level, krippendorff
from macroscope.statistics.crossed_bootstrap import mean_interval
from macroscope.statistics.proportions import share_interval
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")
SECTION_TYPES = "section types"
"""Name of the agreement on section types in the column of questions."""


def collect(
    key: dict[str, Any],
    collected: CollectedAnswers,
    output: Path,
    resampling: Resampling,
    projected: Types | None = None,
) -> dict[str, pd.DataFrame]:
    """Write all tables of a study into a folder.

    Parameters
    ----------
    key
        Key of the study.
    collected
        Submitted answers.
    output
        Folder to write.
    resampling
        Number of resamples, confidence level and seed.
    projected
        (system, document) -> section types by a classifier; see `section_types.read_projections`.

    Returns
    -------
    dict
        Name of each table -> the table.
    """
    questionnaire = Questionnaire.model_validate(key["questionnaire"])
    table = annotations(collected.answers, questionnaire)
    tables = {
        "annotations": table,
        "systems": system_scores(table, questionnaire, resampling),
        "document_scores": document_scores(table),
        "agreement": agreement(table, collected.answers, questionnaire, resampling),
        "repeated": repeated(table, resampling),
        "times": times(collected.answers),
        "remarks": remarks(collected.answers, key["texts"]),
        "exclusions": pd.DataFrame(
            [(place, reason, count) for (place, reason), count in sorted(collected.excluded.items())],
            columns=["of", "reason", "count"],
        ),
    }
    tables["scores"] = tables["systems"][["question", "system", "mean"]].rename(columns={"mean": "score"})
    if collected.screening:
        columns = ["annotator", "documents", "right", "passed"]
        tables["screening"] = pd.DataFrame(collected.screening, columns=columns)
    if questionnaire.section_types:
        tables["training"] = pd.DataFrame(collected.training, columns=["annotator", "document", "sections", "right"])
        tables["organisations"] = organisations(collected.answers, questionnaire)
        if projected is not None:
            tables["section_types"] = type_agreement(collected.answers, projected, resampling)
            tables["confusion"] = confusion_table(collected.answers, projected)
    with atomic(output) as folder:
        folder.mkdir()
        for name, content in tables.items():
            write_csv(content, folder / f"{name}.csv")
    for row in tables["exclusions"].itertuples(index=False):
        log.info("excluded: %s: %s (%d)", *row)
    return tables


def annotations(answers: list[Answer], questionnaire: Questionnaire) -> pd.DataFrame:
    """Build the table of annotations: a row per answer and question."""
    rows = [
        (
            *(question.name, answer.annotator, answer.system, answer.document, answer.code, answer.repeat),
            *(answer.answers[question.name], question.scores[answer.answers[question.name]]),
            *(answer.reasons.get(question.name, ""), answer.seconds),
        )
        for question in questionnaire.questions
        for answer in answers
    ]
    columns = ["question", "annotator", "system", "document", "code", "repeat", "answer", "score", "reason", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def system_scores(table: pd.DataFrame, questionnaire: Questionnaire, resampling: Resampling) -> pd.DataFrame:
    """Compute the mean score of each system over first showings, with its interval."""
    rows = []
    bounds = {question.name: sorted(question.scores.values()) for question in questionnaire.questions}
    for (question, system), group in _first(table).groupby(["question", "system"], sort=False):
        scale = bounds[str(question)]
        estimate = mean_interval(group, scale, resampling)
        counts = (len(group), group["document"].nunique(), group["annotator"].nunique())
        rows.append((question, system, estimate.value, estimate.low, estimate.high, *counts, estimate.over))
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
    """Compute the mean score of each document over its annotators."""
    keys = ["question", "system", "document"]
    grouped = _first(table).groupby(keys, sort=False)["score"]
    return grouped.agg(score="mean", annotators="size").reset_index()


def agreement(
    table: pd.DataFrame, answers: list[Answer], questionnaire: Questionnaire, resampling: Resampling
) -> pd.DataFrame:
    """Compute Krippendorff's alpha of each question, and of the section types."""
    first = _first(table)

    rows = []

    def row(question: str, level: Level, units: list[Any], values: list[Any]) -> tuple[Any, ...]:
        result = krippendorff(units, values, level, confidence=resampling.confidence)
        return (question, level, result.alpha, result.low, result.high, result.units, result.values, result.reason)

    for question in questionnaire.questions:
        group = first[first["question"] == question.name]
        units = list(zip(group["system"], group["document"], strict=True))
        rows.append(row(question.name, question.level, units, group["score"].tolist()))
    if questionnaire.section_types:
        shown = [answer for answer in answers if not answer.repeat]
        sections = [(answer.system, answer.document, n) for answer in shown for n in range(len(answer.types))]
        rows.append(row(SECTION_TYPES, "nominal", sections, [kind for answer in shown for kind in answer.types]))
    columns = ["question", "level", "alpha", "ci_low", "ci_high", "units", "values", "reason"]
    return pd.DataFrame(rows, columns=columns)


def repeated(table: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compute the agreement of annotators with themselves on documents shown twice."""
    rows = []
    for question, group in table.groupby("question", sort=False):
        keys = ["annotator", "system", "document"]
        pairs = group.pivot_table(index=keys, columns="repeat", values="score").reindex(columns=[False, True]).dropna()
        if pairs.empty:
            rows.append((question, 0, np.nan, np.nan, np.nan, np.nan, "no annotator judged a text twice"))
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
    """Compute the seconds per document of each annotator and system."""
    table = pd.DataFrame(
        [(answer.annotator, answer.system, answer.seconds) for answer in answers], columns=["annotator", "system", "s"]
    )
    grouped = table.groupby(["annotator", "system"])["s"]
    return grouped.agg(documents="size", median_seconds="median", total_seconds="sum").reset_index()


def remarks(answers: list[Answer], texts: dict[str, list[list[str]]]) -> pd.DataFrame:
    """Build the table of marked sentences and comments; sections and sentences count from 1."""
    rows: list[tuple[Any, ...]] = []
    for answer in answers:
        place = (answer.annotator, answer.system, answer.document)
        for section, sentence in sorted(answer.marks):
            rows.append((*place, "mark", section + 1, sentence + 1, texts[answer.digest][section][sentence].strip()))
        if answer.comment:
            rows.append((*place, "comment", None, None, answer.comment))
    table = pd.DataFrame(rows, columns=["annotator", "system", "document", "kind", "section", "sentence", "text"])
    return table.astype({"section": "Int64", "sentence": "Int64"})


def _first(table: pd.DataFrame) -> pd.DataFrame:
    return table[~table["repeat"].astype(bool)]
