"""The layout of a file: its container, its format, and the fields that are taken for the text and the prompt."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.fields import name_field
from macroscope.readers.containers import find_rows, open_rows
from macroscope.readers.containers.tables import known_names
from macroscope.readers.dialogues import WHOLE, group_messages, list_speakers, with_turns
from macroscope.readers.formats import CHAT, DOCUMENTS, find_formats, list_chats
from macroscope.readers.formats.declaration import Answer, Fields, Format, as_id, as_label, as_name, one_of_each
from macroscope.readers.messages import transcript_of
from macroscope.readers.paths import MissingField, find_texts, fitting_names, look_up, number_pattern
from macroscope.readers.records import Rows
from macroscope.readers.selection import Selection

_SAMPLE_ROWS = 100
"""Rows by which the format is recognised, and of which the fields are counted."""
_SAMPLE_CHARACTERS = 1 << 24
_MOST_NAMED = 12
_MOST_PATHS, _LONGEST_EXAMPLE = 3, 60
_NO_ANSWERS = frozenset(
    ("prompt", "prompts", "instruction", "question", "input", "inputs", "system", "context", "memory")
)
"""Names of fields that hold what a text answers."""
_NOTHING = object()
TEXT_FILES = "text files"
GIVEN = "records"
"""Names of the formats that are not declared: whole files, and records whose field of the text the user named."""
EMPTY = "a file without records"


class UnknownRecords(MacroscopeError):
    """Records in a format that is not known, or without any text."""


@dataclass(frozen=True)
class Layout:
    """The layout of a file.

    Attributes
    ----------
    path
        The file.
    rows
        Its rows.
    format
        Format of its records.
    wanted
        Names of the fields to read; None: all.
    shares
        Share of the first rows that have each field.
    sampled
        Number of these rows.
    described
        What is taken as what, for the user.
    remarks
        Facts that the user should know: what was inferred, and what was not read.
    has_sides
        Whether it holds texts of people and of models, told apart by its format.
    """

    path: Path
    rows: Rows
    format: Format
    wanted: set[str] | None
    shares: dict[str, float]
    sampled: int
    described: str
    remarks: list[str]
    has_sides: bool = False

    def answers(self, row: Fields) -> Iterator[Answer]:
        """Stream the texts of a row; those of models are of no side if no row is of people's texts."""
        for answer in self.format.answers(row):
            yield replace(answer, is_human=None) if answer.is_human is False and not self.has_sides else answer

    def missing(self, name: str, where: str) -> MacroscopeError:
        """Return the error for a field that a record lacks; `where` is the place of the record."""
        hint = f"--{name}-field" if name in ("text", "prompt", "id", "model") else "another field"
        return MacroscopeError(f"{where} has no field {name!r}; give {hint} ({self.fields_found()})")

    def fields_found(self) -> str:
        """Return the fields of the first rows with their shares, for messages."""
        return describe_shares(self.shares, self.sampled, self.rows.unit)


def describe_shares(shares: dict[str, float], sampled: int, unit: str) -> str:
    """Return the names of fields, the most frequent first, with their shares of the first rows."""
    named = [f"{name!r} {share:.0%}" for name, share in list(shares.items())[:_MOST_NAMED]]
    more = f" and {len(shares) - len(named)} more" if len(shares) > len(named) else ""
    rows = f"{sampled:,} {unit}s" if sampled != 1 else unit
    return f"fields of the first {rows}: {', '.join(named) or 'none'}{more}"


def _texts_found(sample: Sequence[Fields]) -> str:
    """Return the paths to texts inside of fields, the longest texts first, for messages; "" if there is none."""
    nested = [(path, length) for path, length in find_texts(sample).items() if "." in path or "[]" in path]
    named = ", ".join(f"{path!r} ({length:,.0f} characters)" for path, length in nested[:_MOST_PATHS])
    return f"; texts inside of them: {named}" if named else ""


def _example_of_field(sample: Sequence[Fields], names: Collection[str]) -> str:
    """Return options that name chats, or fields of one name and a number, or the field of the longest texts."""
    if chats := list_chats(sample):
        options = " or ".join(name_field("text_field", name) for name in chats)
        return f", for example {options}, the last answer of each chat"
    if list_chats(sample, needs_answer=False):
        return ", or give ⟨dialogue=whole⟩ for the conversations"
    paths = [path for path in find_texts(sample) if path.partition(".")[0].partition("[")[0] not in _NO_ANSWERS]
    if pattern := next(filter(None, (number_pattern(path, names) for path in paths)), None):
        number = len(fitting_names(pattern, names))
        example = name_field("text_field", pattern)
        return f", for example {example}, the {number} texts of each record (with ⟨join⟩ they are parts of one)"
    return f", for example {name_field('text_field', paths[0])}, the longest texts" if paths else ""


def examine(path: Path, selection: Selection) -> Layout:
    """Find out the layout of a file from its first rows.

    Raises
    ------
    UnknownRecords
        If no format applies and the user named no field of the text.
    MacroscopeError
        If the file is unreadable, or no row has a field that the user named.
    """
    return _examine(path, open_rows(path, selection.fields.given().values(), selection.separator), selection)


def examine_part(path: Path, selection: Selection, unknown: list[UnknownRecords]) -> Layout | None:
    """Find out the layout of a file of a folder; None if it holds no texts that are known, noted in `unknown`."""
    rows = find_rows(path, selection.fields.given().values(), selection.separator)
    if rows is None:
        return None
    try:
        return _examine(path, rows, selection)
    except UnknownRecords as error:
        unknown.append(error)
        return None


def has_field(path: Path, name: str) -> bool:
    """Return whether the first rows of a file have a field; False for a folder and for a file of one text."""
    if path.is_dir():
        return False
    rows = open_rows(path, [name])
    return bool(rows.unit) and any(_has(row, name) for row in _sample(rows))


def find_example(path: Path, name: str) -> str:
    """Return the first value of a field of a file in JSON, cut, for messages; "nothing" if no row has the field."""
    sample = [] if path.is_dir() else _sample(open_rows(path, [name]))
    values = (look_up(row, name) for row in sample if _has(row, name))
    return shorten(json.dumps(next(values, "nothing"), ensure_ascii=False, default=str), _LONGEST_EXAMPLE)


def _examine(path: Path, rows: Rows, selection: Selection) -> Layout:
    whose = selection.dialogue
    if not rows.unit:
        fmt = DOCUMENTS if whose is None else with_turns(DOCUMENTS, whose)
        return Layout(path, rows, fmt, None, {}, 0, TEXT_FILES + selection.describe(False), list(rows.remarks))
    rows, sample = _read_names_in_any_case(rows, _sample(rows), selection)
    counts = Counter(name for row in sample for name in row)
    shares = {name: count / len(sample) for name, count in counts.most_common()}
    fields_found = describe_shares(shares, len(sample), rows.unit)
    formats = find_formats(sample, whose is None) if sample else [DOCUMENTS]
    if whose is not None and not (formats and list_speakers(formats[0], sample)):
        grouped = group_messages(rows, sample, formats[0] if formats else None)
        rows, formats = (rows, formats) if grouped is None else (grouped, [CHAT])
        sample = _sample(rows)
    for name in selection.fields.given().values():
        if sample and not any(_has(row, name) for row in sample):
            raise MacroscopeError(f"{path}: no field {name!r}; give the name of another ({fields_found})")
    given_text = selection.fields.text
    if given_text is None and not formats:
        keys = f"{fields_found}{_texts_found(sample)}"
        example = _example_of_field(sample, shares)
        raise UnknownRecords(f"{path}: the field of the text is not known; give it with ⟨text_field⟩ ({keys}){example}")
    fmt = _format_of_field(given_text, selection.join) if given_text is not None else formats[0]
    fmt = _with_fields(fmt, selection)
    if whose is not None:
        _require_turns(path, fmt, sample, whose)
        fmt = with_turns(fmt, whose)
    answers = [answer for row in sample for answer in _answers_if_any(fmt, row)]
    if sample and formats and given_text is None and not answers:
        raise UnknownRecords(f"{path}: {fmt.name} without any text; give a file with generated texts ({fields_found})")
    has_sides = any(answer.is_human for answer in answers)
    remarks = list(rows.remarks)
    if given_text is None:
        remarks += [*_rivals(formats, sample), *_longer_fields(sample, fmt, answers)]
    given = "".join(selection.fields.given().values())
    is_path = any(mark in given for mark in (".", "[", "*"))  # or it is a part of the name of a column
    wanted = None if is_path or any("*" in name for name in fmt.top_fields) else fmt.top_fields
    if wanted is not None and selection.fields.label is not None:
        wanted |= {selection.fields.label}
    described = fmt.describe(sample) + selection.describe(has_sides) if sample else EMPTY
    return Layout(path, rows, fmt, wanted, shares, len(sample), described, remarks, has_sides)


def _require_turns(path: Path, fmt: Format, sample: Sequence[Fields], whose: str) -> None:
    """Check that the first records have conversations in which a speaker has a turn."""
    speakers = list_speakers(fmt, sample)
    if sample and not speakers:
        raise UnknownRecords(
            f"{path}: no conversations in its records; give messages with a role each, or leave ⟨dialogue⟩ out"
        )
    if sample and whose.casefold() not in (WHOLE, *map(str.casefold, speakers)):
        options = " or ".join(name_field("dialogue", name) for name in speakers)
        raise UnknownRecords(f"{path}: no turn of {whose!r} in its conversations; give {options}")


def _read_names_in_any_case(
    rows: Rows, sample: list[dict[str, Any]], selection: Selection
) -> tuple[Rows, list[dict[str, Any]]]:
    """Return rows and their sample with names as formats spell them, if that makes a format apply: "Response"."""
    if selection.fields.text is not None or not sample or find_formats(sample):
        return rows, sample
    names = known_names(selection.fields.given().values())
    renamed = [_rename(row, names) for row in sample]
    if not find_formats(renamed):
        return rows, sample
    return replace(rows, read=lambda _: ((number, _rename(row, names)) for number, row in rows.read(None))), renamed


def _rename(row: Fields, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a row with the names that are known by their lower case; a name that the row has already stays."""
    spelled = {name: names.get(name.strip().casefold(), name) for name in row}
    return {name if name != new and new in row else new: row[name] for name, new in spelled.items()}


def _sample(rows: Rows) -> list[dict[str, Any]]:
    """Return the first rows; an error after them is raised when the file is read."""
    sample: list[dict[str, Any]] = []
    size = 0
    try:
        for _, row in rows.read(None):
            sample.append(row)
            size += sum(len(value) for value in row.values() if isinstance(value, str | list))
            if len(sample) == _SAMPLE_ROWS or size > _SAMPLE_CHARACTERS:
                break
    except MacroscopeError:
        if not sample:
            raise
    return sample


def _has(row: Fields, name: str) -> bool:
    return _look_up_if_any(row, name, _NOTHING) is not _NOTHING


def _look_up_if_any(row: Fields, name: str, default: Any = None) -> Any:
    try:
        return look_up(row, name)
    except MissingField:
        return default


def _format_of_field(name: str, join: bool) -> Format:
    """Return the format of records whose field of the text the user named."""
    prompt, fields = "" if name == "prompt" else "prompt", "title split label original"
    between = " " if join else None
    return replace(
        CHAT,
        name=GIVEN,
        text=name,
        prompt=prompt,
        id="id",
        model="",
        fields=fields,
        join=between,
        is_named=True,
        has_own_ids=True,
    )


def _with_fields(fmt: Format, selection: Selection) -> Format:
    """Return a format whose prompt, id and model are read from the fields that the user named."""
    names = {what: name for what, name in selection.fields.given().items() if what != "text"}
    if not names:
        return fmt

    convert: dict[str, Callable[[Any], Any]] = {"prompt": transcript_of, "id": as_id, "model": as_name}
    label = names.pop("label", None)

    def answers(record: Fields) -> Iterator[Answer]:
        texts = list(fmt.answers(record))
        if any(answer.left_out for answer in texts):  # such as the header of a chat, without these fields
            yield from texts
            return
        values = {what: one_of_each(look_up(record, name), len(texts)) for what, name in names.items()}
        labels = one_of_each(_look_up_if_any(record, label), len(texts)) if label else []
        for number, answer in enumerate(texts):
            if label:
                answer = replace(answer, fields={**answer.fields, "label": as_label(labels[number])})
            yield replace(answer, **{what: convert[what](each[number]) for what, each in values.items()})

    return replace(
        fmt,
        read=answers,
        has_own_ids=fmt.has_own_ids or "id" in names,
        prompt=names.get("prompt", fmt.prompt),
        id=names.get("id", fmt.id),
        model=names.get("model", fmt.model),
    )


def _answers_if_any(fmt: Format, row: Fields) -> list[Answer]:
    try:
        return list(fmt.answers(row))
    except MissingField:
        return []


def _rivals(formats: Sequence[Format], sample: Sequence[Fields]) -> Iterator[str]:
    names = list(dict.fromkeys(fmt.describe(sample) for fmt in formats))
    if len(names) > 1:
        yield f"also possible: {', '.join(names[1:])}; ⟨text_field⟩ chooses"


def _longer_fields(sample: Sequence[Fields], fmt: Format, answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a remark if fields that are not read hold longer texts than the text itself."""
    lengths = [len(answer.text) for answer in answers if isinstance(answer.text, str)]
    mean = sum(lengths) / len(lengths) if lengths else 0
    totals: Counter[str] = Counter()
    for row in sample:
        unread = (name for name in row if name not in fmt.top_fields)
        totals.update({name: len(row[name]) for name in unread if isinstance(row[name], str)})
    longer = {name: total / len(sample) for name, total in totals.most_common() if total / len(sample) > mean}
    if lengths and longer:
        named = ", ".join(f"{name!r} ({length:,.0f} characters)" for name, length in longer.items())
        yield f"fields that are not read hold longer texts than the text ({mean:,.0f} characters): {named}"
