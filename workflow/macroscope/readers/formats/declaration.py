"""Declaration of a format, a row of a table: how records are recognised, and which fields hold the text and others."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from macroscope.readers.messages import (
    ASSISTANT,
    USER,
    Message,
    Turn,
    as_messages,
    content_of,
    split_chat,
    transcript_of,
)
from macroscope.readers.paths import as_list, get, is_value, look_up

Fields = Mapping[str, Any]
"""A record: a JSON object, or a row of a table."""
HUMAN = "human"
"""Name of the model in records of people's texts."""
_CUT = "finish_reason|stop_reason|finishReason|done_reason|truncated|is_truncated|metadata.finish_reason"
"""Fields that say whether a text was cut, in records of any format."""
_CUT_VALUES = "length|max_tokens|MAX_TOKENS|max_length|model_length|max_output_tokens|true|True"


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
    is_cut
        Whether the text was cut at a limit; None if the record does not say.
    messages
        The conversation that ends with the text, or that has it, if the record has one.
    """

    text: Any
    prompt: str | None = None
    id: str | int | None = None
    model: str | None = None
    is_human: bool | None = None
    fields: Fields = field(default_factory=dict)
    left_out: str = ""
    is_cut: bool | None = None
    messages: Sequence[Message] = ()


@dataclass(frozen=True)
class Format:
    """Declaration of a format.

    Attributes
    ----------
    name
        Name for the user.
    marks
        What a record of it has, separated by spaces: paths, with bars between alternatives; `path:kind` with a kind of
        `_KINDS`; `path=value`.
    text
        Paths of the texts, separated by spaces: each is a text, or a list of them; a chat is its last answer.
    prompt, id, model
        Paths of these. Several parts of a prompt are joined; several models are those of several texts.
    fields
        Further fields of the document, as `title`, or `title=storytitle` if the record has another name.
    human
        Path among those of the text that holds people's texts, or `path=value` of their records; empty if none does.
    only, others
        `path=value` of the records to read, and the kind of the others, for the counts.
    cut
        Path that says whether a text was cut; default: common names.
    join
        What stands between the texts of a record, which are parts of one; None: they are several.
    reads
        Further fields at the top of a record that are read.
    records, holder
        Path of the records inside of an object that holds them all, and the marks of this object.
    read
        Function that returns the texts of a record, if no path describes them.
    is_certain
        Whether no other format is possible, since no other program writes such keys.
    has_own_ids
        Whether ids are the user's: two different texts with one id are then an error. Otherwise, an id may come again,
        as with several samples per prompt.
    is_named
        Whether the user named the field of the text: it may have blanks in its name, and must exist.
    """

    name: str
    marks: str
    text: str
    prompt: str = ""
    id: str = ""
    model: str = ""
    fields: str = ""
    human: str = ""
    only: str = ""
    others: str = ""
    cut: str = _CUT
    join: str | None = None
    reads: str = ""
    records: str = ""
    holder: str = ""
    read: Callable[[Fields], Iterable[Answer]] | None = None
    is_certain: bool = False
    has_own_ids: bool = False
    is_named: bool = False

    @property
    def texts(self) -> list[str]:
        """Return the paths of the texts."""
        return [self.text] if self.is_named else self.text.split()

    @property
    def top_fields(self) -> set[str]:
        """Return the names of the fields at the top of a record that are read."""
        parts = [self.marks, self.prompt, self.id, self.model, self.only, self.cut, self.reads]
        paths = [path for part in parts for path in part.replace("|", " ").split()]
        paths += [field.rpartition("=")[2] for field in self.fields.split()]
        paths += [path for text in self.texts for path in ([text] if self.is_named else text.split("|"))]
        return {re.split(r"[.:=\[]", path, maxsplit=1)[0] for path in paths}

    def applies(self, record: Fields) -> bool:
        """Return whether a record is of this format."""
        return has_marks(record, self.marks)

    def answers(self, record: Fields) -> Iterable[Answer]:
        """Return the texts of a record."""
        return _read(self, record) if self.read is None else self.read(record)

    def describe(self, records: Sequence[Fields]) -> str:
        """Return what is taken as what, for the user, given the first records."""
        taken = {"text": self.texts, "prompt": self.prompt.split(), "id": self.id.split(), "model": self.model.split()}
        parts = []
        for what, paths in taken.items():
            each = [path for alternatives in paths for path in alternatives.split("|")]
            if present := [path for path in each if any(get(record, path) is not None for record in records)]:
                parts.append(f"{what}: {', '.join(present)}")
        return f"{self.name} ({', '.join(parts)})" if parts else self.name


def _is_text(value: Any) -> bool:
    return isinstance(value, str | list) or value is None or content_of(value) is not None


_KINDS: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, Mapping),
    "list": lambda value: isinstance(value, list),
    "text": _is_text,
    "chat": lambda value: bool(as_messages(value)),
    "turns": lambda value: isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) for item in value),
}


def has_marks(record: Fields, marks: str) -> bool:
    """Return whether a record has all marks of a format; see `Format.marks`."""
    return all(_has_mark(record, mark) for mark in marks.split())


def _has_mark(record: Fields, mark: str) -> bool:
    path, is_equal, value = mark.partition("=")
    if is_equal:
        return is_value(get(record, path), value)
    path, _, kind = mark.partition(":")
    alternatives = path.split("|")
    if not kind:
        return any(name in record or get(record, name) is not None for name in alternatives)
    return any(
        (name in record or get(record, name) is not None) and _KINDS[kind](get(record, name)) for name in alternatives
    )


def _read(fmt: Format, record: Fields) -> Iterator[Answer]:
    """Stream the texts that a format's paths name."""
    values = [look_up(record, path) if fmt.is_named else get(record, path) for path in fmt.texts]
    turns = [(place, turn) for place, value in enumerate(values) if value is not None for turn in turns_of(value)]
    if fmt.join is not None:
        pieces = [turn.text.strip() if fmt.join else turn.text for _, turn in turns if isinstance(turn.text, str)]
        turns = [(0, Turn(None, fmt.join.join(pieces) or None, None))]
    turns = turns or [(0, Turn(None, None, None))]
    asked = [one_of_each(get(record, path), len(turns)) for path in fmt.prompt.split()]
    models = [get(record, path) for path in fmt.model.split()]
    if len(models) == 1 and isinstance(models[0], list) and len(models[0]) == len(turns):  # one of each text in a list
        models, turns = models[0], [(number, turn) for number, (_, turn) in enumerate(turns)]
    left_out = fmt.others if fmt.only and not has_marks(record, fmt.only) else ""
    cut = read_cut(record, fmt.cut)
    for number, (place, turn) in enumerate(turns):
        is_human = (
            (has_marks(record, fmt.human) if "=" in fmt.human else fmt.texts[place] == fmt.human) if fmt.human else None
        )
        model = models[place if len(models) > 1 else 0] if models else None
        prompts = [prompt[number] for prompt in asked]
        yield Answer(
            turn.text,
            turn.prompt or "\n\n".join(filter(None, map(transcript_of, prompts))) or None,
            as_id(get(record, fmt.id)),
            None if is_human else as_name(model) or as_name(turn.model),
            is_human,
            further_fields(fmt, record),
            left_out,
            cut[number if len(cut) == len(turns) else 0] if cut else None,
            turn.messages or list_conversation(prompts, turn.text),
        )


def one_of_each(value: Any, number: int) -> list[Any]:
    """Return a value for each of a record's texts: the items of a list of that many, or the same value."""
    is_list = isinstance(value, list) and len(value) == number > 1 and not as_messages(value)
    return value if is_list else [value] * number


def list_conversation(prompts: Sequence[Any], text: Any) -> list[Message]:
    """Return the messages of prompts, which the user says if they are no messages, and of the answer; none without."""
    said = [
        message
        for prompt in prompts
        for message in split_chat(as_messages(prompt)).messages or [Message(USER, transcript_of(prompt) or "")]
        if message.text
    ]
    return [*said, Message(ASSISTANT, text)] if said and isinstance(text, str) else []


def read_cut(record: Fields, path: str = _CUT) -> list[bool]:
    """Return whether the texts of a record were cut at a limit; none if it does not say."""
    return [is_value(value, _CUT_VALUES) for value in as_list(get(record, path))]


def further_fields(fmt: Format, record: Fields) -> dict[str, Any]:
    """Return the further fields of a document that a record has, apart from its text and prompt."""
    taken = {*fmt.texts, *fmt.prompt.replace("|", " ").split()}
    named = [(name.partition("=")[0], name.rpartition("=")[2]) for name in fmt.fields.split()]
    present = {name: get(record, field) for name, field in named if field not in taken}
    return {
        name: str(value) if isinstance(value, bool) else value for name, value in present.items() if value is not None
    }


def turns_of(value: Any) -> list[Turn]:
    """Return the texts of a value: of a string, an object with a content, a list of these, or a chat's last answer."""
    if isinstance(value, list):
        if messages := as_messages(value):
            return [split_chat(messages)]
        if any(isinstance(item, dict) and item.get("type") in ("text", "output_text") for item in value):  # parts
            return [Turn(None, content_of(value), None)]
        return [turn for item in value for turn in turns_of(item)] or [Turn(None, None, None)]
    return [Turn(None, content_of(value) if isinstance(value, dict) else value, None)]


def as_id(value: Any) -> str | int | None:
    """Return an id, a string or a whole number; None for anything else."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def as_label(value: Any) -> Any:
    """Return a label as a string: the only item of a list, a number as it is read; None for white space and NaN."""
    if isinstance(value, list) and len(value) == 1:
        return as_label(value[0])
    if isinstance(value, float) and (value.is_integer() or value != value):
        value = int(value) if value == value else ""
    return str(value).strip() or None if isinstance(value, str | int | float) else value


def as_name(value: Any) -> str | None:
    """Return the name of a model: a string, a whole number, the only item of a list, an object's id; else None."""
    if isinstance(value, list) and len(value) == 1:
        return as_name(value[0])
    if isinstance(value, Mapping):
        return as_name(get(value, "id|name|model|label"))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None
