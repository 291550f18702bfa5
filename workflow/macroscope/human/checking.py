"""Checks of damaged segments by people: the filter by agreement, and the human baseline (cai2020 §3, Tables 2, 3)."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pandas as pd

from macroscope.critics.narrative.checked_segments import CheckedSegment, collect_answers, read_lines
from macroscope.errors import MacroscopeError
from macroscope.human.segments import SEGMENTS, read_instances
from macroscope.options import Resampling
from macroscope.statistics.agreement import answer_metrics
from macroscope.tables import read_csv

ANNOTATIONS = "annotations.csv"
DAMAGED, INTACT = 1.0, 0.0
"""Scores of the two answers."""


def read_judgements(judged: Path) -> dict[str, dict[str, bool]]:
    """Read the answers from a folder of `macroscope human collect`: instance -> annotator -> whether it is damaged.

    Raises
    ------
    MacroscopeError
        If the study has several questions, or answers with other scores than 0 and 1.
    """
    path = judged / ANNOTATIONS
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file; give the folder that `macroscope human collect` wrote")
    table = read_csv(path, dtype={"document": str, "annotator": str})
    table = table[~table["repeat"].astype(bool)]
    if table["question"].nunique() > 1 or not set(table["score"]) <= {DAMAGED, INTACT}:
        raise MacroscopeError(
            f"{path}: not answers with the scores 0 (intact) and 1 (damaged) to one question; ask those of"
            " resources/questionnaires/cai2020-missing.yaml or cai2020-discordant.yaml"
        )
    answers: dict[str, dict[str, bool]] = {}
    for document, annotator, score in zip(table["document"], table["annotator"], table["score"], strict=True):
        answers.setdefault(document, {})[annotator] = score == DAMAGED
    return answers


def _require_known(answers: Collection[str], instances: Collection[str], judged: Path) -> None:
    if unknown := next((name for name in answers if name not in instances), None):
        raise MacroscopeError(f"{judged}: answers about '{unknown}', which --segments lacks; give the study's segments")


def check_segments(segments: Path, judged: Path, least: int, judges: int) -> tuple[list[CheckedSegment], pd.DataFrame]:
    """Keep the instances on whose truth people agree.

    An instance is kept if at least `judges` people have judged it, and at least the share `least` / `judges` of them
    agree with the truth.

    Parameters
    ----------
    segments
        Folder of `macroscope human segments`.
    judged
        Folder of `macroscope human collect`.

    Returns
    -------
    segments
        The kept instances.
    agreement
        task, place (damaged, intact), judges, agreeing, segments, kept: numbers of instances by their number of judges
        and of those who agree with the truth. The sum of `kept` is the size of the test set (Table 2).

    Raises
    ------
    MacroscopeError
        If answers are about other segments, or no instance is kept.
    """
    if not 0 < least <= judges:
        raise MacroscopeError(f"--least {least} of --judges {judges}: give --least from 1 to the number of judges")
    instances = read_instances(segments)
    answers = read_judgements(judged)
    _require_known(answers, {instance.id for instance, _ in instances}, judged)
    kept, rows = [], []
    for instance, truth in instances:
        given = answers.get(instance.id, {})
        agreeing = sum(answer == truth.damaged for answer in given.values())
        passes = len(given) >= judges and agreeing * judges >= least * len(given)
        rows.append((instance.task, "damaged" if truth.damaged else "intact", len(given), agreeing, 1, int(passes)))
        if passes:
            kept.append(CheckedSegment(instance, truth, len(given), agreeing))
    columns = ["task", "place", "judges", "agreeing", "segments", "kept"]
    agreement = pd.DataFrame(rows, columns=columns).groupby(columns[:4], as_index=False).sum()
    if not kept:
        raise MacroscopeError(
            f"{judged}: no segment has {judges} judges of whom {least} agree with its truth; give more answers, or a"
            " smaller --judges"
        )
    return kept, agreement


def add_baseline(segments: Path, judged: Path, resampling: Resampling) -> tuple[list[CheckedSegment], pd.DataFrame]:
    """Add the answers of other people to checked segments, and compute the human baseline (Table 3).

    The metrics are means over the people, each with the same weight. Intervals are over documents.

    Parameters
    ----------
    segments
        Folder of `macroscope human check`.
    judged
        Folder of `macroscope human collect`: answers of people who did not check the segments.

    Returns
    -------
    segments
        The segments with `people`.
    metrics
        metric (accuracy, precision, recall, f1), value, ci_low, ci_high.

    Raises
    ------
    MacroscopeError
        If answers are about other segments.
    """
    checked, answers = read_lines(CheckedSegment, segments / SEGMENTS), read_judgements(judged)
    _require_known(answers, {segment.instance.id for segment in checked}, judged)
    with_people = [replace(segment, people=answers.get(segment.instance.id, {})) for segment in checked]
    documents = {segment.instance.document: number for number, segment in enumerate(checked)}
    return with_people, answer_metrics(collect_answers(with_people, documents), resampling)
