"""The example document of a system page: the text that best shows a system's differences, with a critic's marks.

The selected text has the score farthest outside the distribution of real texts, on either side: a system may be too
likely as well as too unlikely, and the largest score of a too likely system is unremarkable. (If the score is a
distance, only large values are unusual.) If most of the system's texts are on one side of the real median, the example
is taken from that side when possible, so that it shows typical rather than rare behaviour. Only texts that are flagged
as unlike real text are selected (`reporting.flags`). The shortest texts have the most extreme means over steps and
little to read; therefore texts below the system's lower quartile of length (in characters, which every script has) are
excluded. Texts without marks are excluded if the critic marks any of the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.critics import get_critic
from macroscope.critics.attributions import read_attributions_at
from macroscope.critics.declaration import AttributionScore
from macroscope.documents import Collection, Document
from macroscope.options import CONTROL
from macroscope.reporting.flags import Flags
from macroscope.reporting.formats import format_number
from macroscope.reporting.html_blocks import reader_address
from macroscope.reporting.reader.index import CriticScores
from macroscope.runs.results import Results

MOST_CHARACTERS = 1800
"""Maximum number of characters of the example on a page; the reader shows the whole text."""
BEFORE = 200
"""Characters shown before the mark with the largest weight, if it is deep inside a long section."""
LONGEST_WORD = 60
"""Word length in characters beyond which a text may be cut inside a word: not all scripts have spaces."""
SHORT = 0.25
"""Share of the system's texts, the shortest ones, that are excluded."""
MOST = 2 / 3
"""Share of the system's texts on one side of the real median from which the example is taken from that side."""


@dataclass(frozen=True)
class Choice:
    """A selected text.

    Attributes
    ----------
    row
        Index of the text in the samples.
    marked
        Whether texts without marks were excluded.
    """

    row: int
    marked: bool


@dataclass(frozen=True)
class Piece:
    """A stretch of text with the reason for its mark (`note`), "" if it is not marked."""

    text: str
    note: str


@dataclass(frozen=True)
class OpenedSection:
    """A section, or an excerpt of it.

    Attributes
    ----------
    title
        Heading, or None.
    whole, behind
        Notes on the section as a whole, and on the place after its end.
    pieces
        Text of the section.
    """

    title: str | None
    whole: list[str]
    pieces: list[Piece]
    behind: list[str]


@dataclass(frozen=True)
class Example:
    """The example document of a system page.

    Attributes
    ----------
    critic
        Critic that selected the document.
    name
        Title of the document, or its id.
    score
        Score by the critic: "4.31 nats per section (latent NLL)".
    comparison
        Comparison of the score with real texts: "more than all 300 real texts", "less than 287 of 300 real texts".
    marked
        Whether texts without marks by the critic were excluded.
    address
        Link to the document in the reader, from the folder of the run.
    sections
        Sections that are shown.
    cut
        Whether the document has more text than is shown.
    """

    critic: str
    name: str
    score: str
    comparison: str
    marked: bool
    address: str
    sections: list[OpenedSection]
    cut: bool


def find_example(
    results: Results, corpus: str, system: str, critics: Sequence[str], flags: Mapping[str, Flags]
) -> Example | None:
    """Return the example of a system: the document chosen by the first critic with marks in its choice.

    Parameters
    ----------
    results
        Results of the run.
    corpus, system
        Names.
    critics
        Critics by precedence.
    flags
        Flags of the system's texts by each critic.

    Returns
    -------
    The document of the first critic if no critic marks its choice; None if no critic flags a document.
    """
    samples = results.samples_of(corpus, system)
    choices = list(_choices(results, corpus, system, critics, flags, text_lengths(samples)))
    if not choices:
        return None
    critic, file, scores, choice = next((candidate for candidate in choices if candidate[-1].marked), choices[0])
    (document,) = Collection(samples, shard=choice.row, size=1)
    sections, cut = open_document(document, read_attributions_at(file, choice.row)["marks"])
    return Example(
        critic,
        document.title or document.id,
        _format_score(critic, scores.scores[choice.row]),
        _compare_with_real(scores, choice.row),
        choice.marked,
        reader_address(corpus, system, document.id, critic, rising=bool(scores.scores[choice.row] < scores.middle)),
        sections,
        cut,
    )


def _choices(
    results: Results,
    corpus: str,
    system: str,
    critics: Sequence[str],
    flags: Mapping[str, Flags],
    lengths: NDArray[np.int64],
) -> Iterator[tuple[str, Path, CriticScores, Choice]]:
    """Yield (critic, file of its attributions, its scores, its choice) for critics that flag a document."""
    files = results.outputs("attributions")
    for critic in critics:
        if (critic, corpus, system) in files:
            file, control = (files[critic, corpus, name] for name in (system, CONTROL))
            scores = CriticScores.read(file, control)
            marks, distance = mark_counts(file), _attribution_of(critic).distance
            choice = choose_document(scores, flags[critic], lengths, marks, distance=distance)
            if choice is not None:
                yield critic, file, scores, choice


def _compare_with_real(scores: CriticScores, row: int) -> str:
    below, above = int(scores.below[row]), int(scores.above[row])
    word, count = ("less", above) if above > below else ("more", below)
    of_all = f"all {scores.real:,}" if count >= scores.real else f"{count:,} of {scores.real:,}"
    return f"{word} than {of_all} real texts"


def open_document(document: Document, marks: Sequence[dict[str, Any]]) -> tuple[list[OpenedSection], bool]:
    """Return `MOST_CHARACTERS` of a document around the mark with the largest weight, and whether there is more.

    Parameters
    ----------
    document
        Document to show.
    marks
        Marks of the document, as in `critics.attributions`.
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
        last = end_of_word(text, first + left) if len(text) - first > left else len(text)
        section_marks = [mark for mark in marks if mark["section"] == number]
        shown.append(_opened_section(sections[number].title, text, section_marks, first, last))
        cut, left = cut or last < len(text), left - (last - first)
    return shown, cut


def _beginning(document: Document, marks: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Return the (section, character) to begin at: (0, 0) if the mark with the largest weight is near the beginning."""
    lengths = [len(section.text) for section in document.sections]
    if sum(lengths) <= MOST_CHARACTERS or not marks:
        return 0, 0
    worst = max(marks, key=lambda mark: mark["weight"])
    if sum(lengths[: worst["section"]]) + worst["start"] <= MOST_CHARACTERS / 2:
        return 0, 0
    if worst["start"] > BEFORE:
        return worst["section"], end_of_word(document.sections[worst["section"]].text, worst["start"] - BEFORE)
    before = max(0, worst["section"] - 1)
    return before, end_of_word(document.sections[before].text, max(0, lengths[before] - BEFORE))


def end_of_word(text: str, place: int) -> int:
    """Return the last end of a word up to `place`; `place` itself inside a word longer than `LONGEST_WORD`."""
    space = text.rfind(" ", max(0, place - LONGEST_WORD), place + 1)
    return space if space > 0 else place


def _opened_section(
    title: str | None, text: str, marks: Sequence[dict[str, Any]], first: int, last: int
) -> OpenedSection:
    behind = [mark for mark in marks if mark["start"] == mark["end"]]
    whole = [mark for mark in marks if mark not in behind and (mark["start"], mark["end"]) == (0, len(text))]
    inner = [mark for mark in marks if mark not in behind and mark not in whole]
    pieces = [Piece("… ", "")] if first else []
    pieces += cut_pieces(text, inner, first, last)
    if last < len(text):
        pieces.append(Piece(" …", ""))
    ends = [mark["note"] for mark in behind] if last == len(text) else []
    return OpenedSection(title, [mark["note"] for mark in whole], pieces, ends)


def cut_pieces(text: str, marks: Sequence[dict[str, Any]], first: int, last: int) -> Iterator[Piece]:
    """Yield the text from `first` to `last`, cut where marks begin or end."""
    edges = {first, last, *(mark[end] for mark in marks for end in ("start", "end"))}
    places = sorted(edge for edge in edges if first <= edge <= last)
    for start, end in pairwise(places):
        notes = [mark["note"] for mark in marks if mark["start"] <= start and mark["end"] >= end]
        yield Piece(text[start:end], "; ".join(notes))


def _format_score(critic: str, value: float) -> str:
    attribution = _attribution_of(critic)
    number = "infinite" if np.isinf(value) else f"{format_number(value)} {attribution.unit}"
    return f"{number} ({attribution.score})"


def _attribution_of(critic: str) -> AttributionScore:
    attribution = get_critic(critic).data.attribution
    assert attribution is not None
    return attribution


def choose_document(
    scores: CriticScores, flags: Flags, lengths: NDArray[np.int64], marks: NDArray[np.int64], *, distance: bool = False
) -> Choice | None:
    """Choose the most unusual text, as described in the module's docstring; None if no text is flagged.

    Parameters
    ----------
    scores
        Scores of the texts by the critic.
    flags
        Flags of the texts by the critic.
    lengths, marks
        Characters and number of the critic's marks per text.
    distance
        Whether the score is a distance; see `declaration.AttributionScore`.
    """
    usable = flags.is_flagged & (lengths >= np.quantile(lengths, SHORT))
    for is_on_side in () if distance else (scores.scores > scores.middle, scores.scores < scores.middle):
        if is_on_side.mean() >= MOST and (usable & is_on_side).any():
            usable &= is_on_side
    marked = usable & (marks > 0)
    if marked.any():
        usable = marked
    rows = np.flatnonzero(usable)
    if not len(rows):
        return None
    # Texts beyond all real ones tie in their p-value: the farthest from the median comes first.
    order = np.lexsort((rows, -scores.distances[rows], flags.p_values[rows]))
    return Choice(int(rows[order[0]]), bool(marked.any()))


def text_lengths(samples: Path) -> NDArray[np.int64]:
    """Return the number of characters of each text, read from its column without building documents."""
    return np.concatenate([_characters(sections) for sections in _batches(samples, "sections.list.element.text")])


def mark_counts(attribution: Path) -> NDArray[np.int64]:
    """Return the number of a critic's marks in each text, from the column of their sections alone."""
    counts = [pc.list_value_length(marks).to_numpy() for marks in _batches(attribution, "marks.list.element.section")]
    return np.concatenate(counts).astype(np.int64)


def _batches(path: Path, column: str) -> Iterator[pa.ListArray]:
    for batch in pq.ParquetFile(path).iter_batches(columns=[column]):
        yield batch.column(0)


def _characters(sections: pa.ListArray) -> NDArray[np.int64]:
    lengths = pc.utf8_length(pc.struct_field(sections.flatten(), 0)).to_numpy(zero_copy_only=False)
    owners = pc.list_parent_indices(sections).to_numpy()
    return np.bincount(owners, lengths, minlength=len(sections)).astype(np.int64)
