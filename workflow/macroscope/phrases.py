"""Numbers, names and counts as people read them: "1,200", ">99%", "1 text", "each of mine, yours and 3 more"."""

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Any, TypeVar

T = TypeVar("T")

MOST_NAMED = 5
"""Largest number of names in a sentence."""
_DIGITS = re.compile(r"\d+")


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


def order_by_numbers(names: Iterable[str]) -> list[str]:
    """Return names in their order; if they differ in their numbers alone, by these: step-900 before step-1000."""
    numbers = {name: [int(digits) for digits in _DIGITS.findall(name)] for name in names}
    differ_in_numbers = len({_DIGITS.sub("0", name) for name in numbers}) == 1
    return sorted(numbers, key=numbers.__getitem__) if differ_in_numbers else list(numbers)


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


class _Words(Formatter):
    """A formatter that gives numbers their nouns, and words the form that a number needs."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            return choose_form(value, *format_spec.split("|"))
        is_noun = format_spec.replace(" ", "").isalpha()
        return format_count(value, format_spec) if is_noun else format(value, format_spec)


WORDS = _Words()
"""Formatter: `{number:text}` becomes "1 text" or "2 texts", `{number:is|are}` the form that the number needs."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits and minus sign -> superscripts."""
LARGE = 1e7
"""Absolute value from which numbers are written with a power of ten."""
ROUNDING = -12
"""Power of ten below which a number is what rounding left of 0, such as a distance between equal texts."""


def number(value: float, digits: int = 3) -> str:
    """Format a number with significant digits, thousands in full, a missing one as "–"."""
    import pandas as pd  # slow to import for the command line

    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < LARGE else significant(f"{value + 0.0:.{digits}g}")


def significant(text: str) -> str:
    """Rewrite the power of ten of a number that Python formatted: "9.11e-05" becomes "9.11 × 10⁻⁵", "1.7e-18" is 0."""
    mantissa, power, exponent = text.partition("e")
    if not power:
        return text
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}" if int(exponent) >= ROUNDING else "0"


def shorten(text: str, characters: int) -> str:
    """Return the first words of a text on one line, at most `characters` long; a final "…" marks a cut."""
    # Taking twice as many characters leaves room for white space that the join removes.
    start = " ".join(text[: 2 * characters].split())
    if len(start) <= characters and len(text) <= 2 * characters:
        return start
    cut = start[: characters + 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut[:characters]} …".lstrip()
