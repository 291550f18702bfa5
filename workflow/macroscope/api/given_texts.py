"""The strings that a user gave, and places in them: documents are read without blank lines, wrapping and headings."""

import logging
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any
from unicodedata import normalize

from macroscope.config.schema import Config
from macroscope.corpora.files import FilesCorpus
from macroscope.critics.attributions import find_section_starts
from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL
from macroscope.readers.reading import read_given_texts
from macroscope.readers.selection import Side, selection_of
from macroscope.systems.files import FilesSystem

log = logging.getLogger("macroscope")


@dataclass(frozen=True)
class LocatedText:
    """A text, and the place in it of every character of the document that was read from it.

    Attributes
    ----------
    text
        The string that the user gave.
    places
        (start, end) in it of each character of the sections that is not a space, in their order.
    before
        Number of such characters before each place of the joined sections.
    starts
        Offset of each section in the joined sections.
    """

    text: str
    places: Sequence[tuple[int, int]]
    before: Sequence[int]
    starts: Sequence[int]

    def locate(self, mark: dict[str, Any]) -> dict[str, Any]:
        """Return a mark of a section as one of the string, from its first to its last character that is no space."""
        offset = self.starts[mark["section"]]
        first, last = self.before[offset + mark["start"]], self.before[offset + mark["end"]]
        if first < last:
            start, end = self.places[first][0], self.places[last - 1][1]
        else:  # the end of the section itself is marked
            start = end = self.places[first - 1][1] if first else 0
        return {**mark, "start": start, "end": end}


def locate_document(document: Document, given: str) -> LocatedText | None:
    """Find a document in the string that it was read from; None if a line of it is not there."""
    characters, spans = _compose_with_spans(given)
    solid = "".join(characters)
    starts = [span[0] for span in spans]
    firsts = {bisect_left(starts, place) for place in _line_starts(given)}
    places: list[tuple[int, int]] = []
    place = 0
    for line in document.text.split("\n"):
        needed = "".join(line.split())
        position = _find(solid, needed, place, firsts)
        if position < 0:
            return None
        place = position + len(needed)
        places += spans[position:place]
    return LocatedText(given, places, *_offsets(document))


def locate_as_judged(document: Document) -> LocatedText:
    """Return a document's own text, in which every character is at its place."""
    text = document.text
    places = [(place, place + 1) for place, character in enumerate(text) if not character.isspace()]
    return LocatedText(text, places, *_offsets(document))


def _offsets(document: Document) -> tuple[list[int], list[int]]:
    """Return the number of characters before each place of the joined sections, and the offsets of the sections."""
    before = list(accumulate((not character.isspace() for character in document.text), initial=0))
    return before, find_section_starts(document)


def _find(text: str, line: str, place: int, firsts: set[int]) -> int:
    """Return the first place of a line that is a whole line, or else begins one, or else is anywhere; -1 without."""
    best, rank = -1, 0
    position = text.find(line, place)
    while position >= 0:
        end = position + len(line)
        here = 1 + (position in firsts) + (position in firsts and (end in firsts or end == len(text)))
        if here > rank:
            best, rank = position, here
        if rank == 3 or not line:
            break
        position = text.find(line, position + 1)
    return best


def _line_starts(text: str) -> Iterator[int]:
    yield 0
    offset = 0
    for line in text.splitlines(keepends=True):
        offset += len(line)
        yield offset


def _compose_with_spans(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the characters of a text in Unicode's composed form that are not spaces, with their places in the text."""
    is_composed = normalize("NFC", text) == text
    characters: list[str] = []
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while not is_composed and end < len(text) and _belongs(text[start:end], text[end]):
            end += 1
        for character in normalize("NFC", text[start:end]):
            if not character.isspace():
                characters.append(character)
                spans.append((start, end))
        start = end
    return characters, spans


def _belongs(before: str, character: str) -> bool:
    """Return whether a character is composed or reordered with those before it."""
    return normalize("NFC", before + character) != normalize("NFC", before) + normalize("NFC", character)


def read_given(config: Config, corpus: str, system: str) -> dict[str, tuple[Document, str]]:
    """Read id -> document and the string that it was read from, of a corpus's real texts or of a system's.

    Returns
    -------
    dict
        Empty if no user gave them; also, with a warning, if their files are gone or changed.
    """
    is_control = system == CONTROL
    options: Any = config.corpora[corpus] if is_control else config.systems.get(system)
    if not isinstance(options, FilesCorpus | FilesSystem) or not options.files:
        return {}
    authors: Side = "people" if is_control else "models"
    try:
        read = read_given_texts([Path(file) for file in options.files], selection_of(options, authors))
        return {document.id: (document, text) for document, text in read}
    except (MacroscopeError, OSError) as error:
        log.warning("the texts of %s are shown as they were judged; their files cannot be read: %s", system, error)
        return {}
