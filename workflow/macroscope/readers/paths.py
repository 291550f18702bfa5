"""Paths into records: names of fields that lead into objects and lists."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

_DEEPEST = 20
"""Most objects and lists inside of each other in which texts are looked for."""
_STEP = re.compile(r"(?P<name>[^\[\]]*)\[(?P<item>-?\d+|(?P<key>[^\[\]=]+)=(?P<value>[^\[\]]*)|)\]")


class MissingField(Exception):
    """A field that the user named, or that a format requires, is not in a record."""


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


def look_up(record: Any, path: str) -> Any:
    """Return the value of a field: its name may have dots, or be a path into objects and lists.

    A step of a path is a key or the number of an item. A key may have brackets: `choices[].text` is the list of all
    texts of choices, `messages[-1]` the last message, `segments[label=true].text` the texts of some segments. A key
    with `*` means each key that fits it: `sample*`. JSON in a string is read as what it holds.
    """
    if isinstance(record, Mapping) and path in record:
        return record[path]
    if isinstance(record, str) and record.lstrip()[:1] in ("{", "["):
        record = parse_if_json(record)
    step, _, rest = path.partition(".")
    if step.endswith("]") and (match := _STEP.fullmatch(step)):
        return _look_up_in_list(look_up(record, match["name"]) if match["name"] else record, match, rest)
    if step.endswith("[]"):
        return _look_up_items(look_up(record, step.removesuffix("[]")), rest)
    if isinstance(record, Mapping) and step in record:
        return look_up(record[step], rest) if rest else record[step]
    if isinstance(record, Mapping) and (names := fitting_names(step, record)):
        return _look_up_items([record[name] for name in names], rest)
    if isinstance(record, list) and step.isdecimal() and int(step) < len(record):
        return look_up(record[int(step)], rest) if rest else record[int(step)]
    raise MissingField(path)


def _look_up_in_list(items: Any, match: re.Match[str], rest: str) -> Any:
    if isinstance(items, str):
        items = parse_if_json(items)
    if match["key"]:
        items = [item for item in as_list(items) if is_value(get(item, match["key"]), match["value"])]
    elif match["item"]:
        number = int(match["item"])
        if not isinstance(items, list) or not -len(items) <= number < len(items):
            raise MissingField(match[0])
        return look_up(items[number], rest) if rest else items[number]
    return _look_up_items(items, rest)


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


def is_value(value: Any, expected: str) -> bool:
    """Return whether a value is one of those that are written between bars; empty stands for none."""
    written = "" if value is None else json.dumps(value) if isinstance(value, bool) else str(value)
    return written in expected.split("|")


def parse_if_json(text: str) -> Any:
    """Return what a string holds in JSON; None if it is not valid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def get(record: Any, path: str) -> Any:
    """Return the value of the first of several fields, with bars between their paths; None if it has none of them."""
    for each in path.split("|") if path else ():
        try:
            if (value := look_up(record, each)) is not None:
                return value
        except MissingField:
            continue
    return None


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, any other value as its only item."""
    return value if isinstance(value, list) else [] if value is None else [value]


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
