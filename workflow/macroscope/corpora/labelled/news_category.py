"""HuffPost news and their authors (Misra 2018): JSON Lines with `headline`, `short_description` and `authors`.

The paper scraped the articles themselves, which can no longer be had: here a text is its headline and, on a line of its
own, its short description.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from macroscope.corpora.labelled.texts import LabelledText
from macroscope.corpora.lines import identifier_of, numbered_records
from macroscope.errors import MacroscopeError


def read_texts(path: Path) -> Iterator[LabelledText]:
    """Stream the texts; the label is the first author, the id the `link`, or without one the number of the line."""
    for number, record in numbered_records(path):
        headline, description, authors = _fields(record, f"{path}, line {number}")
        identifier = identifier_of(record, "link", f"line-{number}", f"{path}, line {number}")
        yield LabelledText(identifier, None, authors.split(",")[0].strip(), f"{headline}\n{description}")


def _fields(record: dict[str, Any], where: str) -> tuple[str, str, str]:
    values = []
    for name in ("headline", "short_description", "authors"):
        value = record.get(name)
        if not isinstance(value, str):
            found = type(value).__name__ if name in record else "missing"
            raise MacroscopeError(
                f"{where}: '{name}' is {found}, not a string; a line of this format has category, headline,"
                " short_description and authors"
            )
        values.append(value)
    headline, description, authors = values
    return headline, description, authors
