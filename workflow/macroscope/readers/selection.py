"""Selection of texts from files: the fields that the user names, the authors, the model."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from pydantic import Field

from macroscope.options import Options
from macroscope.readers.formats.declaration import Answer, fitting_names

Side = Literal["people", "models"]
"""Authors of the texts to read, of files that hold both."""
_DEEPEST = 20
"""Most objects and lists inside of each other in which texts are looked for."""


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
    separator
        Separator of the texts of a text file (`containers.texts`); None: each file is one text.
    straighten_typography
        True if marks are replaced by those of a keyboard (`natural_language.typesetting.straighten`).
    """

    fields: FieldNames = field(default_factory=FieldNames)
    only_model: str | None = None
    authors: Side | None = None
    one_section: bool = False
    distinct: bool = False
    separator: str | None = None
    straighten_typography: bool = False

    def includes(self, answer: Answer) -> bool:
        """Return whether a text is to be read."""
        if self.only_model is not None and answer.model != self.only_model:
            return False
        return self.authors is None or answer.is_human is None or answer.is_human == (self.authors == "people")

    def describe(self, has_sides: bool) -> str:
        """Return the choice of texts in words, to follow the description of a format; "" if all are read."""
        parts = [f"the texts of {self.authors}"] if self.authors is not None and has_sides else []
        parts += [f"the texts of {self.only_model!r}"] if self.only_model is not None else []
        return f", {', '.join(parts)}" if parts else ""


def selection_of(options: Any, authors: Side) -> Selection:
    """Return the texts to read under the options of a corpus or a system of the user's files."""
    names = [each.name for each in fields(Selection) if each.name in type(options).model_fields]
    return Selection(**{name: getattr(options, name) for name in names}, authors=authors)


class MissingField(Exception):
    """A field that the user named, or that a format requires, is not in a record."""


def look_up(record: Any, path: str) -> Any:
    """Return the value of a field: its name may have dots, or be a path into objects and lists.

    A step of a path is a key, the number of an item, or a key and `[]`, which means each item of a list: the value of
    `choices[].text` is the list of all texts of choices. A key with `*` means each key that fits it: `sample*`.
    """
    if isinstance(record, Mapping) and path in record:
        return record[path]
    step, _, rest = path.partition(".")
    if step.endswith("[]"):
        return _look_up_items(look_up(record, step.removesuffix("[]")), rest)
    if rest and isinstance(record, Mapping) and step in record:
        return look_up(record[step], rest)
    if isinstance(record, Mapping) and (names := fitting_names(step, record)):
        return _look_up_items([record[name] for name in names], rest)
    if isinstance(record, list) and step.isdecimal() and int(step) < len(record):
        return look_up(record[int(step)], rest) if rest else record[int(step)]
    raise MissingField(path)


def _look_up_items(items: Any, rest: str) -> list[Any]:
    """Return the values of a field of the items of a list that have it."""
    values: list[Any] = []
    for item in items if isinstance(items, list) else ():
        try:
            value = look_up(item, rest) if rest else item
        except MissingField:
            continue
        values += value if isinstance(value, list) else [value]
    if not values:
        raise MissingField(rest)
    return values


def find_texts(records: Iterable[Any]) -> dict[str, float]:
    """Return the paths of all strings in records, as `look_up` reads them, with their mean lengths in characters.

    The longest comes first.
    """
    counts: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for record in records:
        for path, text in _walk(record, ""):
            counts[path] += 1
            characters[path] += len(text)
    means = {path: characters[path] / counts[path] for path in counts}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def _walk(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif depth == _DEEPEST:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, f"{path}.{key}".lstrip("."), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, f"{path}[]", depth + 1)
