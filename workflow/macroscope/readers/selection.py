"""Selection of texts from files: the fields that the user names, the authors, the model."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from pydantic import Field

from macroscope.options import Options
from macroscope.readers.formats.declaration import Answer

Side = Literal["people", "models"]
"""Authors of the texts to read, of files that hold both."""


class FieldNames(Options):
    """Names of the fields of the records to read; a path such as `response.body.text` leads into objects and lists."""

    text: str | None = Field(
        None, min_length=1, description="Field of the text; default: what the format of the file says."
    )
    prompt: str | None = Field(
        None,
        min_length=1,
        description="Field of the prompt, which pairs texts and is not judged; default: as the format says.",
    )
    id: str | None = Field(None, min_length=1, description="Field of the id; default: as the format says.")
    model: str | None = Field(
        None,
        min_length=1,
        description="Field of the name of the model that wrote the text; default: as the format says.",
    )
    label: str | None = Field(
        None, min_length=1, description="Field of the label, such as a genre; default: `label`. Texts may lack it."
    )

    def given(self) -> dict[str, str]:
        """Return the names that are given, by what they hold."""
        return {what: name for what, name in self.model_dump().items() if name is not None}


@dataclass(frozen=True)
class Selection:
    """The texts to read of each file.

    Attributes
    ----------
    fields
        Names of fields that the user gave.
    only_model
        Name of the model whose texts to read; None: of all.
    authors
        Authors of the texts to read, of formats that hold texts of people and of models; None: both.
    one_section
        True if a plain text is one section without a title.
    distinct
        True if a text that answers the same prompt as an equal one before is left out: a file with several models'
        answers repeats the text of the reference.
    separator, straighten_typography, join, keep_wrappers, detokenize, dialogue
        As the options of the user's files (`corpora.files.TextsOptions`).
    """

    fields: FieldNames = field(default_factory=FieldNames)
    only_model: str | None = None
    authors: Side | None = None
    one_section: bool = False
    distinct: bool = False
    separator: str | None = None
    straighten_typography: bool = False
    join: bool = False
    keep_wrappers: bool = False
    detokenize: bool = False
    dialogue: str | None = None

    def includes(self, answer: Answer) -> bool:
        """Return whether a text is to be read."""
        if self.only_model is not None and answer.model != self.only_model:
            return False
        return self.authors is None or answer.is_human is None or answer.is_human == (self.authors == "people")

    def describe(self, has_sides: bool) -> str:
        """Return the choice of texts in words, to follow the description of a format; "" if all are read."""
        parts = [f"the texts of {self.authors}"] if self.authors is not None and has_sides else []
        parts += [f"the texts of {self.only_model!r}"] if self.only_model is not None else []
        if self.dialogue is not None:
            parts += ["whole conversations" if self.dialogue == "whole" else f"the turns of {self.dialogue!r}"]
        return f", {', '.join(parts)}" if parts else ""


def selection_of(options: Any, authors: Side) -> Selection:
    """Return the texts to read under the options of a corpus or a system of the user's files."""
    names = [each.name for each in fields(Selection) if each.name in type(options).model_fields]
    return Selection(**{name: getattr(options, name) for name in names}, authors=authors)
