"""Patterns of fields' names: `sample*` fits `sample1` and `sample2`, the texts of one prompt in a table."""

import re
from collections.abc import Collection, Iterable


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
