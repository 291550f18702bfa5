"""Damaged segments that people check: sampling, filter by agreement, human baseline (cai2020 §3, Tables 2, 3).

They are sampled from a run of the narrative critic; the truth is in a separate file.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.criticize.checks import LANGUAGES
from macroscope.criticize.reading import check_sides
from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.narrative.checked_segments import (
    CheckedSegment,
    Instance,
    Truth,
    collect_answers,
    read_lines,
    write_lines,
)
from macroscope.critics.narrative.examples import NONE, Examples, read_examples
from macroscope.critics.narrative.options import Task
from macroscope.critics.narratives import Narratives
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, atomic
from macroscope.human.assignment import SCREENING
from macroscope.human.pool import Place, Pool, open_run
from macroscope.options import Resampling
from macroscope.statistics.agreement import answer_metrics
from macroscope.tables import read_csv, write_csv

SEGMENTS, TRUTH = "segments.jsonl", "key.jsonl"
SYSTEM = "segments"
"""Name, in a study, of the system whose documents are the instances."""


def sample_segments(
    run: Path, corpus: str | None, variant: str | None, task: Task, number: int, seed: int
) -> tuple[list[Instance], list[Truth]]:
    """Sample instances from the damaged test segments of a run: a random place of each of `number` segments.

    Parameters
    ----------
    run
        Folder of the run, `results/<run>`.
    corpus
        Name of the corpus; may be None if the run has only one.
    variant
        Name of a variant of the narrative critic; None: the critic itself.

    Raises
    ------
    MacroscopeError
        If the run has no such segments, or too few.
    """
    results, corpus = open_run(run, corpus)
    config = results.config
    critic = "narrative" if variant is None else f"narrative{VARIANT_SEPARATOR}{variant}"
    path = run / "critics" / critic / corpus / "corrupted" / f"{task}.parquet"
    if not path.exists():
        raise MacroscopeError(
            f"{path}: no such file; give a run whose critic '{critic}' damages '{corpus}', task '{task}'"
        )
    if config.critic(critic).test_segments.get(corpus, {}).get(task):
        raise MacroscopeError(
            f"{run}: its test segments of '{corpus}' are checked already (test_segments); give a run with its own"
        )
    narratives = read_corpus_narratives(results.documents_of(corpus), config.corpora[corpus].language)
    test = read_examples(path)[0].get("test")
    damaged = np.empty(0, dtype=np.int64) if test is None else np.flatnonzero(test.damaged)
    if test is None or len(damaged) < number:
        raise MacroscopeError(
            f"{path}: {len(damaged):,} damaged test segments, but --segments asks for {number:,}; ask for fewer"
        )
    rng = np.random.default_rng(seed)
    pairs = []
    for count, row in enumerate(rng.permutation(damaged)[:number], 1):
        position = int(rng.choice(np.flatnonzero(test.labels[row] != NONE)))
        pairs.append(_make_instance(test, narratives, int(row), position, task, f"{task}-{count:05}"))
    return [instance for instance, _ in pairs], [truth for _, truth in pairs]


def _make_instance(
    test: Examples, narratives: Narratives, row: int, position: int, task: Task, name: str
) -> tuple[Instance, Truth]:
    inputs = test.inputs[row]
    sentences = tuple(narratives.sentences[number] for number in inputs[inputs != NONE])
    target = int(test.targets[row, position])
    original = None if target == NONE else narratives.sentences[target]
    instance = Instance(name, task, narratives.ids[test.narratives[row]], sentences, position + 1)
    return instance, Truth(name, bool(test.labels[row, position] == 1), original)


def write_segments(instances: list[Instance], truths: list[Truth], output: Path) -> None:
    """Write the instances, without the truth, and the truth, into a new folder."""
    _require_new(output)
    with atomic(output) as folder:
        folder.mkdir()
        write_lines(folder / SEGMENTS, instances)
        write_lines(folder / TRUTH, truths)


def write_checked(checked: list[CheckedSegment], tables: Mapping[str, pd.DataFrame], output: Path) -> None:
    """Write checked segments, and tables about them, into a new folder."""
    _require_new(output)
    with atomic(output) as folder:
        folder.mkdir()
        write_lines(folder / SEGMENTS, checked)
        for name, table in tables.items():
            write_csv(table, folder / f"{name}.csv")


def _require_new(output: Path) -> None:
    if output.exists():
        raise MacroscopeError(f"{output}: exists already; give a new --output")


def read_instances(folder: Path) -> list[tuple[Instance, Truth]]:
    """Read the instances, and their truth, of a folder of `write_segments` or of `write_checked`.

    Raises
    ------
    MacroscopeError
        If an instance has no truth.
    """
    if not (folder / TRUTH).exists():
        return [(segment.instance, segment.truth) for segment in read_lines(CheckedSegment, folder / SEGMENTS)]
    truths = {truth.id: truth for truth in read_lines(Truth, folder / TRUTH)}
    instances = read_lines(Instance, folder / SEGMENTS)
    if missing := next((instance.id for instance in instances if instance.id not in truths), None):
        raise MacroscopeError(f"{folder / TRUTH}: no truth of '{missing}'; leave it out of {SEGMENTS}, too")
    return [(instance, truths[instance.id]) for instance in instances]


def pool_of_segments(
    instances: list[Instance], requested: str | None, screening: Sequence[tuple[Instance, Truth]] = ()
) -> Pool:
    """Return the pool of a study whose questions are about places of segments.

    Stories of the screening task are not judged otherwise.
    """
    screened = [(replace(instance, id=f"{SCREENING}-{instance.id}"), truth.damaged) for instance, truth in screening]
    stories = {instance.document for instance, _ in screened}
    judged = [instance for instance in instances if instance.document not in stories]
    documents = [_make_document(instance) for instance in judged]
    return Pool(
        {SYSTEM: documents},
        training=[],
        types=[],
        language=check_sides([], {SYSTEM: documents}, requested, checks=LANGUAGES).language,
        counts=Counter({f"{SYSTEM}: of a story of the screening task": len(instances) - len(judged)}),
        places={
            instance.id: Place("slot" if instance.task == "missing" else "sentence", instance.place - 1)
            for instance in (*judged, *(instance for instance, _ in screened))
        },
        screening=[(_make_document(instance), float(damaged)) for instance, damaged in screened],
    )


def _make_document(instance: Instance) -> Document:
    return Document(instance.id, "test", None, (Section(None, " ".join(instance.sentences)),), instance.sentences)


def questionnaire_of(instances: list[Instance]) -> Path:
    """Return the path of the questionnaire about the instances' task.

    Raises
    ------
    MacroscopeError
        If they are of several tasks.
    """
    tasks = {instance.task for instance in instances}
    if len(tasks) > 1:
        raise MacroscopeError("--segments: instances of two tasks; make a study of each, since the questions differ")
    return RESOURCES / "questionnaires" / f"cai2020-{tasks.pop()}.yaml"


ANNOTATIONS = "annotations.csv"
DAMAGED, INTACT = 1.0, 0.0
"""Scores of the two answers."""


def read_judgements(judged: Path) -> dict[str, dict[str, bool]]:
    """Read the answers from a folder of `macroscope human collect`: instance -> annotator -> whether it is damaged."""
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
