"""The two text formats that language models are trained on and sample: W/ Title and W/O Title (deng2022 §4, App. E).

Sections are joined by a blank line. W/ Title, each is "title: text"; W/O Title, it is its text. A document's title
plays no part. Section titles never hold a colon here (normalised ones have none; in others it becomes " -"), so that a
sample splits at its first one.
"""

from pathlib import Path

from macroscope.documents import Collection, Document, Section
from macroscope.files import write_json

SECTION_BREAK = "\n\n"
BOUNDARY = "<|endoftext|>"
ATTEMPTS = 20
"""Invalid draws in a row after which a sample is given up, and counted."""

NO_TEXT, NO_COLON = "draw without text", "section without a colon"
EMPTY_TITLE, EMPTY_TEXT = "section with an empty title", "section with an empty text"


def reasons(titles: bool) -> tuple[str, ...]:
    """Why a draw may be invalid, in each format."""
    return (NO_TEXT, NO_COLON, EMPTY_TITLE, EMPTY_TEXT) if titles else (NO_TEXT,)


class InvalidDraw(ValueError):
    """A draw that is no document of its format; the message is the reason, for the counts."""


def training_text(document: Document, titles: bool) -> str:
    """Text of a document as the language model sees it.

    Parameters
    ----------
    titles
        W/ Title or W/O Title. W/ Title, a section that has no title is an error of the caller: ValueError.
    """
    return SECTION_BREAK.join(_section_text(section, titles) for section in document.sections)


def parse_draw(text: str, titles: bool) -> tuple[tuple[Section, ...], int]:
    """Turn a decoded sample into sections.

    W/ Title, every section must hold a colon, and text on both sides of it; as in the paper one bad section makes the
    whole draw invalid. W/O Title, empty sections are removed.

    Returns
    -------
    sections; number of empty sections that were removed

    Raises
    ------
    InvalidDraw
        With the reason.
    """
    pieces = [piece.strip() for piece in text.replace(BOUNDARY, "").strip().split(SECTION_BREAK)]
    if not any(pieces):
        raise InvalidDraw(NO_TEXT)
    if titles:
        return tuple(_titled_section(piece) for piece in pieces), 0
    sections = tuple(Section(None, piece) for piece in pieces if piece)
    return sections, len(pieces) - len(sections)


def _section_text(section: Section, titles: bool) -> str:
    if not titles:
        return section.text
    if not section.title:
        raise ValueError("a section without a title has no W/ Title form")
    return f"{section.title.replace(':', ' -')}: {section.text}"


def _titled_section(piece: str) -> Section:
    title, colon, text = piece.partition(":")
    if not colon:
        raise InvalidDraw(NO_COLON)
    if not title.strip():
        raise InvalidDraw(EMPTY_TITLE)
    if not text.strip():
        raise InvalidDraw(EMPTY_TEXT)
    return Section(title.strip(), text.strip())


def count_samples(samples: Path, output: Path) -> None:
    """Write the number of documents as JSON."""
    write_json(output, {"documents": Collection(samples).total})
