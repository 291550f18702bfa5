"""The text formats of language models, W/ Title and W/O Title (deng2022 §4, App. E); a check of files of samples.

Sections are joined by a blank line. In W/ Title, each section is "title: text"; in W/O Title, it is its text. The title
of the document is not used. Section titles contain no colon here (normalised titles have none; in others it becomes
" -"), so that a section splits at its first colon.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from macroscope.documents import SCHEMA, SPLITS, Document, Section, read_documents, read_provenance
from macroscope.errors import MacroscopeError

SECTION_BREAK = "\n\n"
BOUNDARY = "<|endoftext|>"
ATTEMPTS = 20
"""Number of invalid attempts in a row after which a sample is given up and counted."""

NO_TEXT, NO_COLON = "attempt without text", "section without a colon"
EMPTY_TITLE, EMPTY_TEXT = "section with an empty title", "section with an empty text"


def invalid_reasons(titles: bool) -> tuple[str, ...]:
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


def check_samples(kind: str, output: Path) -> None:
    """Check that a file holds samples: the columns of documents, unique ids, known splits, sections, a provenance.

    A wrong file is removed, so that no later job trusts it.

    Raises
    ------
    MacroscopeError
        If it is wrong, with the kind and the first fault.
    """
    try:
        fault = _find_fault(output)
        if not fault:
            read_provenance(output)
    except (MacroscopeError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        fault = str(error)
    if fault:
        output.unlink(missing_ok=True)
        raise MacroscopeError(
            f"the stage 'generate' of the kind '{kind}' wrote a wrong output, {output}: {fault}; write it by"
            " `macroscope.documents.write_documents`"
        )


def _find_fault(path: Path) -> str:
    """Return what is wrong with a file of samples; "" if nothing is."""
    schema = pq.read_schema(path)
    for field in SCHEMA:
        if field.name not in schema.names:
            return f"it has no column '{field.name}'"
        if schema.field(field.name).type != field.type:
            return f"the column '{field.name}' has the type {schema.field(field.name).type}, not {field.type}"
    ids = pq.read_table(path, columns=["id", "split"])
    if ids["id"].null_count or (pc.any(pc.equal(ids["id"], "")).as_py() or False):
        return "a document has no id"
    if len(pc.unique(ids["id"])) < len(ids):
        return f"{len(ids):,} documents have {len(pc.unique(ids['id'])):,} ids; ids must be unique"
    if unknown := set(pc.unique(ids["split"]).to_pylist()) - {*SPLITS}:
        return f"the split {min(map(repr, unknown))} is not one of {', '.join(SPLITS)}"
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["sections"]):
            if pc.min(pc.fill_null(pc.list_value_length(batch["sections"]), 0)).as_py() == 0:
                return "a document has no sections"
            batch.validate(full=True)  # texts are UTF-8
    return ""
