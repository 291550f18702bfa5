"""Damages of words: removal, order, repetition, inflection, punctuation, chronology."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from pydantic import Field

from macroscope.documents import Document
from macroscope.natural_language.languages import LANGUAGES, name_of
from macroscope.natural_language.rewordings import ARTICLES, CALENDAR, OPPOSITES
from macroscope.natural_language.words import has_lemmas, has_stop_words, lemmatise, locate_words, stop_words
from macroscope.systems.perturbation.declaration import Touch, combine, declare, needs_spaces, replace_some
from macroscope.systems.perturbation.pieces import (
    Place,
    change_words,
    match_case,
    rearrange,
    repeat_core,
    replace_places,
    replace_texts,
)

_LETTER = re.compile(r"\w")
_STOPS = ".,;:!?…"
_MARKS = re.compile(r"[.,;:!?](?!\w)|[。，、；：！？]")
_SETS_OF_MARKS = (".,;:!?", "。，、；：！？")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")


def _lacks_articles(language: str, articles: list[str] | None = None, **options: Any) -> str | None:
    if articles is not None or language in ARTICLES:
        return None
    return f"{name_of(language)} has no articles that are known here; name them in 'articles', or omit the step"


def _lacks_stop_words(language: str, **options: Any) -> str | None:
    if has_stop_words(language):
        return None
    return (
        f"there is no list of stop words for {name_of(language)}; add resources/stop_words/{language}.txt, or omit the"
        " step"
    )


def _lacks_lemmas(language: str, **options: Any) -> str | None:
    return None if has_lemmas(language) else f"there are no lemmas for {name_of(language)}; omit the step"


@declare("words", keeps_length=True, dose=1.0, twin="replace_synonyms")
def shuffle_words(document: Document, touch: Touch) -> Document:
    """Put words of a text in random order, across its sections (pimentel2022: p_rand)."""
    return change_words(document, lambda words: rearrange(words, touch.rearrange(len(words))))


@declare("words", keeps_length=True, dose=0.25, twin="replace_synonyms")
def swap_adjacent_words(document: Document, touch: Touch) -> Document:
    """Exchange adjacent words; the dose is the share of words that move (he2023: local swap)."""

    def swap(words: list[str]) -> Sequence[str]:
        order = list(range(len(words)))
        for pair in touch.choose(len(words) // 2).tolist():
            order[2 * pair], order[2 * pair + 1] = 2 * pair + 1, 2 * pair
        return rearrange(words, order)

    return change_words(document, swap)


@declare("words", keeps_length=False, dose=0.25, twin="replace_synonyms", drops_sections=True, lacks=needs_spaces)
def drop_words(document: Document, touch: Touch) -> Document:
    """Remove random words (he2023: token drop)."""
    return _remove_words(document, touch, lambda word: True)


@declare("words", keeps_length=False, dose=0.25, twin="replace_synonyms")
def repeat_words(document: Document, touch: Touch) -> Document:
    """Repeat random words immediately (he2023: repeated token)."""
    between = " " if LANGUAGES[touch.language].has_spaces else ""

    def repeat(words: list[str]) -> Sequence[str]:
        chosen = set(touch.choose(len(words)).tolist())
        return [repeat_core(word, between) if number in chosen else word for number, word in enumerate(words)]

    return change_words(document, repeat)


@declare("words", keeps_length=True, dose=0.25, twin="replace_quotes")
def noise_punctuation(document: Document, touch: Touch) -> Document:
    """Replace punctuation marks by other ones (he2023: noised punctuation)."""

    def find(text: str) -> list[Place]:
        return [(*match.span(), _other_mark(match.group(), touch)) for match in _MARKS.finditer(text)]

    return replace_some(document, touch, find)


def _other_mark(mark: str, touch: Touch) -> str:
    others = next(marks for marks in _SETS_OF_MARKS if mark in marks).replace(mark, "")
    return others[int(touch.rng.integers(len(others)))]


@declare(
    "words",
    keeps_length=True,
    dose=1.0,
    twin="replace_spellings",
    lacks=combine(needs_spaces, _lacks_lemmas),
)
def lemmatize_words(document: Document, touch: Touch) -> Document:
    """Replace inflected words by their lemmas (he2023: verb lemmatizing)."""

    def find(text: str) -> list[Place]:
        places = []
        for start, end, word in locate_words(text):
            lemma = lemmatise(word, touch.language)
            if lemma != word:
                places.append((start, end, lemma.capitalize() if text[start].isupper() else lemma))
        return places

    return replace_some(document, touch, find)


@declare("words", keeps_length=True, dose=1.0, twin="replace_synonyms")
def swap_numbers(document: Document, touch: Touch) -> Document:
    """Exchange the numbers of a text with each other."""
    matches = [list(_NUMERAL.finditer(section.text)) for section in document.sections]
    numerals = [match.group() for of_section in matches for match in of_section]
    if len(numerals) < 2:
        return document
    new = iter([numerals[number] for number in touch.rearrange(len(numerals)).tolist()])
    places = [[(*match.span(), next(new)) for match in of_section] for of_section in matches]
    return replace_places(document, places, range(len(numerals)))


@declare(
    "words",
    keeps_length=False,
    dose=1.0,
    twin="contract_words",
    drops_sections=True,
    lacks=combine(_lacks_articles, needs_spaces),
    options={
        "articles": (
            list[str] | None,
            Field(
                None, min_length=1, description="Words that are articles; default: a, an, the; required unless English."
            ),
        ),
        "match_case": (
            bool,
            Field(
                False,
                description="Whether to remove only articles with the case of the list (the paper's code): 'The'"
                " stays.",
            ),
        ),
    },
)
def remove_articles(
    document: Document, touch: Touch, articles: list[str] | None = None, match_case: bool = False
) -> Document:
    """Remove articles (pimentel2022: p_no art; he2023: article removal)."""
    listed = articles or ARTICLES[touch.language]
    if match_case:
        return _remove_words(document, touch, lambda word: word in listed)
    lowered = {article.lower() for article in listed}
    return _remove_words(document, touch, lambda word: word.lower() in lowered)


@declare(
    "words",
    keeps_length=False,
    dose=1.0,
    twin="contract_words",
    drops_sections=True,
    lacks=combine(needs_spaces, _lacks_stop_words),
)
def remove_stop_words(document: Document, touch: Touch) -> Document:
    """Remove stop words of the corpus's language (pimentel2022: p_no stop; he2023: stopword removal)."""
    listed = stop_words(touch.language)
    return _remove_words(document, touch, lambda word: word.lower().replace("’", "'") in listed)


def _remove_words(document: Document, touch: Touch, is_removed: Callable[[str], bool]) -> Document:
    """Remove the dose's share of the words for which a function is true."""
    lines = [[line.split() for line in section.text.split("\n")] for section in document.sections]
    words = list(chain.from_iterable(chain.from_iterable(lines)))
    candidates = [number for number, word in enumerate(words) if _may_remove(word, is_removed)]
    chosen = {candidates[place] for place in touch.choose(len(candidates)).tolist()}
    texts, before = [], 0
    for section, of_section in zip(document.sections, lines, strict=True):
        remaining = []
        for line, of_line in zip(section.text.split("\n"), of_section, strict=True):
            numbers = {number for number in range(len(of_line)) if before + number in chosen}
            before += len(of_line)
            kept = _remove_from_line(of_line, numbers) if numbers else of_line
            remaining += [line] if not numbers else [" ".join(kept)] if kept else []
        texts.append("\n".join(remaining))
    return replace_texts(document, texts)


def _may_remove(word: str, is_removed: Callable[[str], bool]) -> bool:
    _, core, after = _split_punctuation(word)
    # One letter before a full stop is an initial: "Robert A. Heinlein".
    return bool(core) and is_removed(core) and not (len(core) == 1 and after.startswith("."))


def _remove_from_line(words: list[str], removed: set[int]) -> list[str]:
    """Remove words; punctuation on a removed word passes to its neighbour: "(the end of it." -> "(end of."."""
    remaining: list[str] = []
    opening = ""
    for number, word in enumerate(words):
        if number not in removed:
            remaining.append(opening + word)
            opening = ""
            continue
        before, _, after = _split_punctuation(word)
        opening += before
        if opening and after.strip(_STOPS):  # brackets or quotation marks around nothing
            opening, after = "", "".join(mark for mark in after if mark in _STOPS)
        if remaining:
            # A second stop is redundant.
            remaining[-1] += after.strip(_STOPS) if remaining[-1][-1] in _STOPS else after
    if opening and remaining:
        remaining[-1] += opening
    return remaining


def _split_punctuation(word: str) -> tuple[str, str, str]:
    """Split a word into the punctuation before it, its core, and the punctuation after it."""
    first, last = _LETTER.search(word), _LETTER.search(word[::-1])
    if first is None or last is None:
        return word, "", ""
    begin, end = first.start(), len(word) - last.start()
    return word[:begin], word[begin:end], word[end:]


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
