"""The two text formats that language models are trained on and generate: W/ Title and W/O Title (deng2022 §4, App. E).

Sections are joined by a blank line. In W/ Title, each section is "title: text"; in W/O Title, it is its text. The title
of the document is not used. Section titles contain no colon here (normalised titles have none; in others it becomes
" -"), so that a section splits at its first colon.
"""

from collections.abc import Iterator
from pathlib import Path

from macroscope.documents import Document, Section, read_documents
from macroscope.errors import MacroscopeError

SECTION_BREAK = "\n\n"
BOUNDARY = "<|endoftext|>"
ATTEMPTS = 20
"""Number of invalid attempts in a row after which a sample is given up and counted."""

NO_TEXT, NO_COLON = "attempt without text", "section without a colon"
EMPTY_TITLE, EMPTY_TEXT = "section with an empty title", "section with an empty text"


def invalid_reasons(titles: bool) -> tuple[str, ...]:
    """Return the possible reasons for an invalid sample in a format."""
    return (NO_TEXT, NO_COLON, EMPTY_TITLE, EMPTY_TEXT) if titles else (NO_TEXT,)


class InvalidSample(ValueError):
    """Error for a generated text that is not a document of its format; the message is the reason, for the counts."""


def format_training_text(document: Document, titles: bool) -> str:
    """Return the text of a document as a language model is trained on it.

    Parameters
    ----------
    titles
        Whether the format is W/ Title.

    Raises
    ------
    ValueError
        If the format is W/ Title and a section has no title: an error of the caller.
    """
    return SECTION_BREAK.join(_section_text(section, titles) for section in document.sections)


def read_training_texts(documents: Path, split: str, titles: bool) -> Iterator[str]:
    """Yield the training texts of a split, in file order.

    Raises
    ------
    MacroscopeError
        If the format is W/ Title and a section has no title, or the split is empty.
    """
    empty = True
    for document in read_documents(documents, split):
        empty = False
        try:
            yield format_training_text(document, titles)
        except ValueError as error:
            raise MacroscopeError(
                f"{documents}, document {document.id!r}: {error}; set titles: false for this system"
            ) from None
    if empty:
        raise MacroscopeError(f"{documents}: no documents in split '{split}'; give the corpus more documents")


def parse_sample(text: str, titles: bool) -> tuple[tuple[Section, ...], int]:
    """Parse a decoded sample into sections.

    In W/ Title, every section must contain a colon with text on both sides; as in the paper, one bad section makes the
    whole sample invalid. In W/O Title, empty sections are removed.

    Returns
    -------
    sections; number of empty sections that were removed

    Raises
    ------
    InvalidSample
        If the text is not a document of the format; the message is the reason.
    """
    pieces = [piece.strip() for piece in text.replace(BOUNDARY, "").strip().split(SECTION_BREAK)]
    if not any(pieces):
        raise InvalidSample(NO_TEXT)
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
        raise InvalidSample(NO_COLON)
    if not title.strip():
        raise InvalidSample(EMPTY_TITLE)
    if not text.strip():
        raise InvalidSample(EMPTY_TEXT)
    return Section(title.strip(), text.strip())
