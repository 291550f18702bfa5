"""Phrases of sentences for users that name or count things: "1 text", ">99%", "each of mine, yours and 3 more"."""

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


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the form that the number needs.

    Parameters
    ----------
    noun, plural
        The noun after 1, and after all other numbers; default: `noun` with an "s".
    """
    return f"{number:,} {choose_form(number, noun, plural if plural is not None else f'{noun}s')}"


def format_share(share: float) -> str:
    """Return a rounded share in percent; 0% and 100% are exact."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def choose_form(number: int, singular: str, plural: str) -> str:
    """Return the form of a verb or pronoun that agrees with a number."""
    return singular if number == 1 else plural
