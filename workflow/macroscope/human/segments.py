"""Damaged segments that people check: sampled from a run of the narrative critic, with the truth in a separate file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.criticize.reading import recognize_language
from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.narrative.checked_segments import CheckedSegment, Instance, Truth, read_lines, write_lines
from macroscope.critics.narrative.examples import NONE, Examples, read_examples
from macroscope.critics.narrative.options import Task
from macroscope.critics.narratives import Narratives
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, atomic
from macroscope.human.assignment import SCREENING
from macroscope.human.pool import Place, Pool, read_config
from macroscope.plan.corpora import CorporaPlan
from macroscope.tables import write_csv

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
    config, corpus = read_config(run, corpus)
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
    corpora = CorporaPlan(config, str(run))
    narratives = read_corpus_narratives(Path(corpora.documents(corpus)), corpora.options(corpus).language)
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
        language=recognize_language([], {SYSTEM: documents}, requested),
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
