"""Selection of texts from files: the fields that the user names, the authors, the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from macroscope.corpora.files import FieldNames
from macroscope.corpora.files.formats.declaration import Answer

Side = Literal["people", "models"]
"""Authors of the texts to read, of files that hold both."""


@dataclass(frozen=True)
class Selection:
    """The texts to read of each file.

    Attributes
    ----------
    fields
        Names of fields that the user gave.
    only_model
        Name of the model whose texts to read; None: of all.
    side
        Authors of the texts to read, of formats that hold texts of people and of models; None: both.
    one_section
        True if a plain text is one section without a title.
    distinct
        True if a text that answers the same prompt as an equal one before is left out: a file with several models'
        answers repeats the text of the reference.
    """

    fields: FieldNames = field(default_factory=FieldNames)
    only_model: str | None = None
    side: Side | None = None
    one_section: bool = False
    distinct: bool = False

    def includes(self, answer: Answer) -> bool:
        """Return whether a text is to be read."""
        if self.only_model is not None and answer.model != self.only_model:
            return False
        return self.side is None or answer.is_human is None or answer.is_human == (self.side == "people")

    def describe(self, has_sides: bool) -> str:
        """Return the choice of texts in words, to follow the description of a format; "" if all are read."""
        parts = [f"the texts of {self.side}"] if self.side is not None and has_sides else []
        parts += [f"the texts of {self.only_model!r}"] if self.only_model is not None else []
        return f", {', '.join(parts)}" if parts else ""


class MissingField(Exception):
    """A field that the user named, or that a format requires, is not in a record."""


def look_up(record: Any, path: str) -> Any:
    """Return the value of a field: its name may have dots, or be a path into objects and lists.

    Raises
    ------
    MissingField
        If the record has no such field.
    """
    if isinstance(record, Mapping) and path in record:
        return record[path]
    step, _, rest = path.partition(".")
    if rest and isinstance(record, Mapping) and step in record:
        return look_up(record[step], rest)
    if isinstance(record, list) and step.isdecimal() and int(step) < len(record):
        return look_up(record[int(step)], rest) if rest else record[int(step)]
    raise MissingField(path)
