"""The document that shows best what a critic finds unlike real text, opened at what the critic blames in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macroscope.critics import critic_named
from macroscope.critics.attributions import read_attributions_at
from macroscope.critics.declaration import AttributionScore
from macroscope.documents import Collection, Document
from macroscope.options import CONTROL
from macroscope.reporting.example_selection import Choice, choose, mark_counts, text_lengths
from macroscope.reporting.formats import format_number
from macroscope.reporting.links import reader_address
from macroscope.reporting.reader.index import ScoresOfCritic
from macroscope.reporting.results import Results

MOST_CHARACTERS = 1800
"""Of a text that is opened on a page; the reader has the whole."""
BEFORE = 200
"""Characters shown before the place that is blamed most, where it lies deep in a long section."""
LONGEST_WORD = 60
"""Characters between two spaces beyond which a text is cut within what stands there: not all scripts have spaces."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text; `note` says why it is marked, "" where it is not."""

    text: str
    note: str


@dataclass(frozen=True)
class OpenedSection:
    """A section, or what is shown of it.

    Attributes
    ----------
    title
        Its heading, or None.
    whole, behind
        What is said of it as a whole, and of the end behind it.
    pieces
        Its text.
    """

    title: str | None
    whole: list[str]
    pieces: list[Piece]
    behind: list[str]


@dataclass(frozen=True)
class WorstDocument:
    """A document to begin reading with.

    Attributes
    ----------
    critic
        Who finds it unlike real text.
    name
        Its title, or its id.
    score
        What the critic says: "4.31 nats a section (latent NLL)".
    beside
        How that stands beside real texts: "more than all 300 real texts", "less than 287 of 300 real texts".
    marked
        Whether texts in which the critic marks nothing were left aside.
    address
        Of the reader that shows it, from the folder of the run.
    sections
        What is shown of it.
    cut
        Whether there is more of it.
    """

    critic: str
    name: str
    score: str
    beside: str
    marked: bool
    address: str
    sections: list[OpenedSection]
    cut: bool


def worst_document(results: Results, corpus: str, system: str, critics: Sequence[str]) -> WorstDocument | None:
    """The document to begin with: of the first critic that marks places in the one that `worst_choice` chooses.

    Parameters
    ----------
    critics
        In the order in which they are asked.

    Returns
    -------
    Where none of them marks any place, the first one's; None where to all of them no document is out of the ordinary.
    """
    samples = Path(results.plan.systems.samples(corpus, system))
    found = list(_choices(results, corpus, system, critics, text_lengths(samples)))
    if not found:
        return None
    critic, file, judged, choice = next((some for some in found if some[-1].marked), found[0])
    (document,) = Collection(samples, shard=choice.row, size=1)
    sections, cut = opened(document, read_attributions_at(file, choice.row)["marks"])
    return WorstDocument(
        critic,
        document.title or document.id,
        _score(critic, judged.scores[choice.row]),
        _beside(judged, choice.row),
        choice.marked,
        reader_address(corpus, system, document.id, critic, rising=bool(judged.scores[choice.row] < judged.middle)),
        sections,
        cut,
    )


def _choices(
    results: Results, corpus: str, system: str, critics: Sequence[str], lengths: NDArray[np.int64]
) -> Iterator[tuple[str, Path, ScoresOfCritic, Choice]]:
    """(critic, what it blames, its scores, its choice) of every critic that finds any document out of the ordinary."""
    files = results.plan.critics.attributions()
    for critic in critics:
        if (critic, corpus, system) in files:
            own, control = (Path(files[critic, corpus, some]) for some in (system, CONTROL))
            judged = ScoresOfCritic.read(own, control)
            choice = choose(judged, lengths, mark_counts(own), distance=_attribution_of(critic).distance)
            if choice is not None:
                yield critic, own, judged, choice


def _beside(judged: ScoresOfCritic, row: int) -> str:
    below, above = int(judged.below[row]), int(judged.above[row])
    word, count = ("less", above) if above > below else ("more", below)
    of_all = f"all {judged.real:,}" if count >= judged.real else f"{count:,} of {judged.real:,}"
    return f"{word} than {of_all} real texts"


def opened(document: Document, marks: Sequence[dict[str, Any]]) -> tuple[list[OpenedSection], bool]:
    """What is shown of a document, `MOST_CHARACTERS` around the place that is blamed most, and whether there is more.

    Parameters
    ----------
    marks
        As `critics.attributions` has them.
    """
    sections = document.sections
    at, start = _beginning(document, marks)
    shown: list[OpenedSection] = []
    left, cut = MOST_CHARACTERS, (at, start) != (0, 0)
    for number in range(at, len(sections)):
        if left <= 0:
            return shown, True
        first = start if number == at else 0
        text = sections[number].text
        last = _at_word(text, first + left) if len(text) - first > left else len(text)
        own = [mark for mark in marks if mark["section"] == number]
        shown.append(_opened_section(sections[number].title, text, own, first, last))
        cut, left = cut or last < len(text), left - (last - first)
    return shown, cut


def _beginning(document: Document, marks: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """(section, character) that is shown first: the very first one, if the place that is blamed most is near."""
    lengths = [len(section.text) for section in document.sections]
    if sum(lengths) <= MOST_CHARACTERS or not marks:
        return 0, 0
    worst = max(marks, key=lambda mark: mark["weight"])
    if sum(lengths[: worst["section"]]) + worst["start"] <= MOST_CHARACTERS / 2:
        return 0, 0
    if worst["start"] > BEFORE:
        return worst["section"], _at_word(document.sections[worst["section"]].text, worst["start"] - BEFORE)
    return max(0, worst["section"] - 1), max(0, lengths[max(0, worst["section"] - 1)] - BEFORE)


def _at_word(text: str, place: int) -> int:
    """The last place up to `place` where a word ends; `place` itself within a word that is longer than any."""
    space = text.rfind(" ", max(0, place - LONGEST_WORD), place + 1)
    return space if space > 0 else place


def _opened_section(
    title: str | None, text: str, marks: Sequence[dict[str, Any]], first: int, last: int
) -> OpenedSection:
    behind = [mark for mark in marks if mark["start"] == mark["end"]]
    whole = [mark for mark in marks if mark not in behind and (mark["start"], mark["end"]) == (0, len(text))]
    inner = [mark for mark in marks if mark not in behind and mark not in whole]
    pieces = [Piece("… ", "")] if first else []
    pieces += _pieces(text, inner, first, last)
    if last < len(text):
        pieces.append(Piece(" …", ""))
    ends = [mark["note"] for mark in behind] if last == len(text) else []
    return OpenedSection(title, [mark["note"] for mark in whole], pieces, ends)


def _pieces(text: str, marks: Sequence[dict[str, Any]], first: int, last: int) -> Iterator[Piece]:
    """The text from `first` to `last`, cut where marks begin or end."""
    edges = {first, last, *(mark[end] for mark in marks for end in ("start", "end"))}
    places = sorted(edge for edge in edges if first <= edge <= last)
    for start, end in pairwise(places):
        notes = [mark["note"] for mark in marks if mark["start"] <= start and mark["end"] >= end]
        yield Piece(text[start:end], "; ".join(notes))


def _score(critic: str, value: float) -> str:
    attribution = _attribution_of(critic)
    number = "infinite" if np.isinf(value) else f"{format_number(value)} {attribution.unit}"
    return f"{number} ({attribution.score})"


def _attribution_of(critic: str) -> AttributionScore:
    attribution = critic_named(critic).data.attribution
    assert attribution is not None
    return attribution
