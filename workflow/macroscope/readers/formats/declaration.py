"""Declaration of a format: how records are recognised, and which fields are the prompt and the text."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def fitting_names(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that fit a pattern with `*`, in their order; none for a pattern without one."""
    if "*" not in pattern:
        return []
    fitting = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    return [name for name in names if fitting.fullmatch(name)]


def number_pattern(name: str, names: Collection[str]) -> str | None:
    """Return the pattern of a name that ends in a number, if it fits the names with the other numbers and no further.

    The numbers begin with 0 or 1, and none is missing: `gpt3` and `gpt4` are two models, not two texts of one.
    """
    stem = name.rstrip("0123456789")
    numbers = [fitting.removeprefix(stem) for fitting in fitting_names(f"{stem}*", names)]
    if len(numbers) < 2 or not all(map(str.isdecimal, numbers)):
        return None
    first = min(map(int, numbers))
    is_whole = first in (0, 1) and sorted(map(int, numbers)) == list(range(first, first + len(numbers)))
    return f"{stem}*" if is_whole else None


Fields = Mapping[str, Any]
"""A record: a JSON object, or a row of a table."""


@dataclass(frozen=True)
class Answer:
    """A text of a record, and what is known about it.

    Attributes
    ----------
    text
        The text to judge; None if the record has none, as when the model failed.
    prompt
        Prompt that the text answers; it pairs texts, and is not judged.
    id
        Id of the prompt or of the record.
    model
        Name of the model that wrote the text.
    is_human
        Whether a person wrote the text; None if the format does not say.
    fields
        Further fields of a document: `title`, `sections`, `section_names`, `split`, `label`, `original`.
    left_out
        Kind of the text if its format does not count it as anybody's, for the counts of what was left out; else empty.
    """

    text: Any
    prompt: str | None = None
    id: str | int | None = None
    model: str | None = None
    is_human: bool | None = None
    fields: Fields = field(default_factory=dict)
    left_out: str = ""


@dataclass(frozen=True)
class Format:
    """Declaration of a format.

    Attributes
    ----------
    name
        Name for the user.
    applies
        Function that returns whether a record is of this format.
    answers
        Function that returns the texts of a record.
    text, prompt, id, model
        Names of the fields that hold these, for the user; empty if there is none.
    reads
        Further fields at the top of a record that are read, separated by spaces.
    records
        Function that returns the records inside of a JSON object that holds them all; None if the object is not one.
    has_own_ids
        Whether ids are the user's: two different texts with one id are then an error. Otherwise, an id may come again,
        as with several samples per prompt.
    """

    name: str
    applies: Callable[[Fields], bool]
    answers: Callable[[Fields], Iterable[Answer]]
    text: str
    prompt: str = ""
    id: str = ""
    model: str = ""
    reads: str = ""
    records: Callable[[Fields], Sequence[Any] | None] | None = None
    has_own_ids: bool = False

    @property
    def top_fields(self) -> set[str]:
        """Return the names of the fields at the top of a record that are read."""
        named = f"{self.text} {self.prompt} {self.id} {self.model}".replace("[]", "")
        return {name.partition(".")[0] for name in f"{named} {self.reads}".split()}

    def describe(self, present: Collection[str]) -> str:
        """Return what is taken as what, for the user, given the fields at the top of the records."""
        bare = {name.strip("_") for name in present}
        taken = {"text": self.text, "prompt": self.prompt, "id": self.id, "model": self.model}
        parts = []
        for what, paths in taken.items():
            tops = {path: path.partition(".")[0].strip("[],") for path in paths.split()}
            in_records = [path for path, top in tops.items() if top in bare or fitting_names(top, bare)]
            if in_records:
                parts.append(f"{what}: {' '.join(in_records).strip(',')}")
        return f"{self.name} ({', '.join(parts)})" if parts else self.name


def content_of(value: Any) -> str | None:
    """Return the text of a message's content: a string, or a list of parts; parts that are not text are left out."""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict) and "reasoning" not in part]
        parts += [part for part in value if isinstance(part, str)]
        return "\n\n".join(part for part in parts if isinstance(part, str)) or None
    return value if isinstance(value, str) else None


def transcript_of(messages: Any) -> str | None:
    """Return the contents of messages as one prompt; a prompt that is a string as it is."""
    if isinstance(messages, list):
        contents = [content_of(message.get("content")) for message in messages if isinstance(message, dict)]
        return "\n\n".join(content for content in contents if content) or None
    return messages if isinstance(messages, str) else None


def get(record: Any, path: str) -> Any:
    """Return the value at a path of keys and numbers of items, such as "result.completions.0"; None if it is absent."""
    for step in path.split("."):
        if isinstance(record, Mapping):
            record = record.get(step)
        elif isinstance(record, list) and step.isdecimal() and int(step) < len(record):
            record = record[int(step)]
        else:
            return None
    return record


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, any other value as its only item."""
    return value if isinstance(value, list) else [] if value is None else [value]


def has_objects(record: Fields, field: str, *keys: str) -> bool:
    """Return whether a field is one object or a list of objects, each with one of some keys."""
    items = as_list(record.get(field))
    return bool(items) and all(isinstance(item, dict) and not item.keys().isdisjoint(keys) for item in items)


def as_id(value: Any) -> str | int | None:
    """Return an id, a string or a whole number; None for anything else."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def as_text(value: Any) -> str | None:
    """Return a string as it is, None for anything else."""
    return value if isinstance(value, str) else None
