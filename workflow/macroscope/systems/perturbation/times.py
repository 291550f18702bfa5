"""Perturbation of chronology: words that order events in time, and the dates of a text."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from macroscope.documents import Document
from macroscope.natural_language.languages import name_of
from macroscope.natural_language.rewordings import CALENDAR, OPPOSITES
from macroscope.systems.perturbation.declaration import Touch, declare, replace_some
from macroscope.systems.perturbation.pieces import Place, match_case

_YEAR = r"(?<![\d.,])(?:1\d{3}|20\d{2})(?![.,]?\d)"
"""Numbers from 1000 to 2099, without others beside them."""


def _lacks_times(language: str, **options: Any) -> str | None:
    if language in OPPOSITES:
        return None
    return f"no words for the order of time are known in {name_of(language)}; omit the step"


@declare("words", keeps_length=True, dose=1.0, twin="replace_synonyms", lacks=_lacks_times)
def swap_times(document: Document, touch: Touch) -> Document:
    """Contradict the order of events: swap before and after, earlier and later, and the text's dates with each other.

    The places are words of opposite sense in time, and years, months and days of the week if the text has another one:
    each becomes another one of the text. A document without such a place is unchanged.
    """
    opposites, pattern = _opposites(touch.language), _times(touch.language)
    groups = [_YEAR, *(_match_any(names) for names in CALENDAR[touch.language])]
    dates = [sorted(set(re.findall(group, document.text))) for group in groups]

    def find(text: str) -> list[Place]:
        places = []
        for match in pattern.finditer(text):
            word = match.group()
            others = next(([date for date in group if date != word] for group in dates if word in group), None)
            if others is None and word.lower() in opposites:
                places.append((*match.span(), match_case(opposites[word.lower()], word)))
            elif others:
                places.append((*match.span(), others[int(touch.rng.integers(len(others)))]))
        return places

    return replace_some(document, touch, find)


@cache
def _opposites(language: str) -> Mapping[str, str]:
    pairs = OPPOSITES[language]
    return pairs | {second: first for first, second in pairs.items()}


@cache
def _times(language: str) -> re.Pattern[str]:
    """Return the pattern of all places: dates as they are written, other words in small letters or capitals."""
    dates = [_YEAR, *(_match_any(names) for names in CALENDAR[language])]
    return re.compile("|".join([*dates, f"(?i:{_match_any(_opposites(language))})"]))


def _match_any(words: Mapping[str, str] | frozenset[str]) -> str:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])"
