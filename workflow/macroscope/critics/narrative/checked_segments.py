"""Segments of the test split that people check: their file format, and the examples made of them (cai2020 §3).

A line of the file is one instance: a damaged segment and one place in it, of which people say whether it is damaged.
`macroscope human` samples instances, shows them, and keeps those on which people agree with the truth.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.options import Task
from macroscope.critics.narratives import Narratives
from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import parse_as, require_regular, write_text
from macroscope.statistics.agreement import Decisions

_ADVICE = "give segments that `macroscope human segments` sampled from a run with the same corpus and filters"
T = TypeVar("T")


@dataclass(frozen=True)
class Instance:
    """A segment after damage, and a place in it.

    Attributes
    ----------
    id
        Identifier of the instance.
    task
        "missing" or "discordant".
    document
        Identifier of the narrative.
    sentences
        Sentences after damage.
    place
        Number of a sentence, from 1: the sentence itself or, if sentences are missing, the slot after it.
    """

    id: str
    task: Task
    document: str
    sentences: tuple[str, ...]
    place: int

    def __post_init__(self) -> None:
        last = len(self.sentences) - (self.task == "missing")
        if not 1 <= self.place <= last:
            raise ValueError(f"'place' is {self.place}, but places of '{self.id}' are 1 to {last}")


@dataclass(frozen=True)
class Truth:
    """The correct answer to an instance.

    Attributes
    ----------
    id
        Identifier of the instance.
    damaged
        Whether the place is damaged.
    original
        Sentence that was removed or replaced there; None if the place is intact.
    """

    id: str
    damaged: bool
    original: str | None


@dataclass(frozen=True)
class CheckedSegment:
    """An instance whose truth people have confirmed.

    Attributes
    ----------
    instance, truth
        The instance and its correct answer.
    judges, agreeing
        Number of people who checked it, and of those who agree with the truth.
    people
        Answers of other people, for the human baseline: name -> whether they call the place damaged.
    """

    instance: Instance
    truth: Truth
    judges: int
    agreeing: int
    people: dict[str, bool] = field(default_factory=dict)


def read_lines(kind: type[T], path: Path) -> list[T]:
    """Read a file of JSON Lines as instances, truths, or checked segments.

    Raises
    ------
    MacroscopeError
        If the file is missing or has no lines, or a line is malformed.
    """
    require_regular(path)
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise no_such_file(path) from None
    rows = [parse_as(kind, line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise MacroscopeError(f"{path}: no segments; give a file that `macroscope human` wrote")
    return rows


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write instances, truths, or checked segments as JSON Lines."""
    write_text(path, "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows))


def make_checked_examples(
    checked: Sequence[CheckedSegment], narratives: Narratives, task: Task, path: Path
) -> Examples:
    """Turn checked segments into test examples whose only labels are those of the checked places.

    Parameters
    ----------
    narratives
        Narratives of the corpus, which have all sentences of the segments.
    path
        File of the segments, for messages.
    """
    numbers = {sentence: number for number, sentence in reversed(list(enumerate(narratives.sentences)))}
    documents = {name: number for number, name in enumerate(narratives.ids)}
    width = max(len(row.instance.sentences) for row in checked)
    inputs, targets = (np.full((len(checked), width), NONE, dtype=np.int64) for _ in range(2))
    labels, owners = np.full((len(checked), width), NONE, dtype=np.int8), np.empty(len(checked), dtype=np.int64)
    for row, (instance, truth) in enumerate((segment.instance, segment.truth) for segment in checked):
        where = f"{path}: segment '{instance.id}'"
        if instance.task != task:
            raise MacroscopeError(f"{where} is of the task '{instance.task}', not '{task}'; give the file of this task")
        if instance.document not in documents:
            raise MacroscopeError(f"{where}: the corpus lacks its document '{instance.document}'; {_ADVICE}")
        owners[row] = documents[instance.document]
        if (split := narratives.splits[owners[row]]) != "test":
            raise MacroscopeError(f"{where}: its document is in the split '{split}', not 'test'; {_ADVICE}")
        texts = [*instance.sentences, *([truth.original] if truth.original else ())]
        if unknown := next((text for text in texts if text not in numbers), None):
            raise MacroscopeError(f"{where}: the corpus lacks the sentence {unknown!r}; {_ADVICE}")
        inputs[row, : len(instance.sentences)] = [numbers[text] for text in instance.sentences]
        labels[row, instance.place - 1] = int(truth.damaged)
        if truth.original:
            targets[row, instance.place - 1] = numbers[truth.original]
    return Examples(owners, inputs, labels, targets)


def collect_answers(checked: Sequence[CheckedSegment], stories: Mapping[str, int]) -> list[Decisions]:
    """Return the answers of each person of the human baseline as decisions, grouped by story.

    Parameters
    ----------
    stories
        Document -> number of its story.
    """
    rows: dict[str, list[tuple[int, bool, bool]]] = {}
    for segment in checked:
        for person, answer in segment.people.items():
            row = (stories[segment.instance.document], segment.truth.damaged, answer)
            rows.setdefault(person, []).append(row)
    columns = [np.array(rows[person], dtype=np.int64).T for person in sorted(rows)]
    return [Decisions(story, truth.astype(bool), answer.astype(float)) for story, truth, answer in columns]
