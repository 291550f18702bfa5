"""Phrases of sentences for users that name several things: systems, texts, damages."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

MOST_NAMED = 5
"""Largest number of names in a sentence."""


def list_names(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first names as one phrase, with the number of the others."""
    named = ", ".join(names[:most])
    return f"{named} and {len(names) - most:,} more" if len(names) > most else named


def of_each(names: Sequence[str]) -> str:
    """Return "of mine" for one name, and "each of mine, yours" for several: words that follow a number."""
    return f"{'each of' if len(names) > 1 else 'of'} {list_names(names)}"


def group_names(values: Mapping[str, T]) -> dict[T, list[str]]:
    """Return value -> the names that have it, in their order."""
    groups: dict[T, list[str]] = {}
    for name, value in values.items():
        groups.setdefault(value, []).append(name)
    return groups
