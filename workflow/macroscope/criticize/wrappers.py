"""Wrappers: what stands in nearly all texts of one side and in almost none of the other, and is not their prose.

Critics find control tokens, names of speakers or blanks before commas as surely as structure. What surrounds the
prose is compared: beginnings and ends of texts, marks, tags, whole lines, how lines begin, line breaks, capitals. Words
inside it are not: they tell subjects apart. A feature is a wrapper if `NEARLY_ALL` texts of one side have it and
`ALMOST_NONE` of the other, and if Fisher's exact test rejects after Holm's adjustment. The adjustment is for all
features that as many texts have, of both sides together, as such a difference takes: that does not depend on the sides
(Tarone 1990). The units of the test are texts, or prompts.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

import numpy as np
import regex

from macroscope.phrases import list_names
from macroscope.statistics.proportions import hypergeometric_law

NEARLY_ALL, ALMOST_NONE = 0.9, 0.05
"""Shares of texts of the two sides: from the first on, and up to the second, a feature gives a side away."""
LEVEL = 0.05
_MOST_NAMED = 3
_ENDS = 24
"""Largest number of characters of a beginning or an end."""
_LONGEST_LINE = 80
_SMALLEST_WINDOW = 200
"""Fewest characters of a text whose marks and lines are compared, if texts are that long."""
_WINDOWS = (_SMALLEST_WINDOW, 400, 800, 1600, 3200)
"""Numbers of first characters for which a kept reference has features."""
_MOST_WORDS_KEPT = 4
_ORDINARY = ".,;:!?'\"()–—…“”‘’«»„‟「」『』¿¡。，、！？；：-"
"""Marks of prose: their kinds are compared by `natural_language.typesetting`."""
_INSIDE = regex.compile(
    r"(?P<tag></?[^<>\n]{1,40}>|\{[^{}\n]{1,40}\}|\[[^\[\]\n]{1,40}\])|(?P<word>\w*_\w+)|\b(?P<capitals>\p{Lu}{3,})\b"
    rf"|(?P<mark>[^\w\s{_ORDINARY}]+)"
)
_BLANK_BEFORE_MARK = re.compile(r"\s[.,;:!?](?=\s|$)")
_MARK_OF_SENTENCES = re.compile(r"[.,;:!?](?=\s|$)")
_FRAME = regex.compile(r"(?:[^\S\n]*[\p{L}\p{N}.]+){0,4}?[^\S\n]*(?:[^\w\s.,'\"“”‘’«»]+)")
_PHRASES = {
    "begins": "“{}” begins",
    "ends": "“{}” ends",
    "inside": "“{}” is in",
    "line": "the line “{}” is in",
    "frame": "lines begin as “{}” in",
    "repeated": "lines stand several times in",
    "breaks": "line breaks are in",
    "paragraphs": "blank lines are in",
    "blanks": "blanks before punctuation are in",
    "small": "no capitals are in",
    "capitals": "only capitals are in",
}
"""Kind of a feature -> its description before the number of texts."""
Feature = tuple[str, str]
"""Kind of a feature, and its characters; "" if the kind says all."""


class Excerpt(NamedTuple):
    """The first and the last characters of a text, and its prompt."""

    head: str
    tail: str
    prompt: Hashable


@dataclass(frozen=True)
class Wrapper:
    """A feature that gives a side away.

    Attributes
    ----------
    kind, example
        Kind (a key of `_PHRASES`), and the characters, if any.
    reference, candidate
        Numbers of texts that have it.
    n_reference, n_candidate
        Numbers of texts that were examined.
    """

    kind: str
    example: str
    reference: int
    candidate: int
    n_reference: int
    n_candidate: int

    @property
    def description(self) -> str:
        """Return the feature with its counts: "“</s>” ends 80 of 80 candidate texts and no real one"."""
        counted = [(self.candidate, self.n_candidate, "candidate"), (self.reference, self.n_reference, "real")]
        (most, of_most, first), (least, of_least, second) = sorted(
            counted, key=lambda numbers: -numbers[0] / numbers[1]
        )
        none = f"no {second} one" if not least else f"{least:,} of {of_least:,} {second} ones"
        shown = _PHRASES[self.kind].format(" ".join(self.example.split()))
        return f"{shown} {most:,} of {of_most:,} {first} texts and {none}"


def describe_wrappers(wrappers: Sequence[Wrapper]) -> str:
    """Return what gives texts away, in words; "" if nothing does."""
    return list_names([wrapper.description for wrapper in wrappers], _MOST_NAMED)


@dataclass(frozen=True)
class Surroundings:
    """Features of what surrounds the texts of a collection.

    Attributes
    ----------
    texts, prompts
        Numbers of both.
    counts
        The features, each with the numbers of texts and of prompts that have it.
    """

    texts: int
    prompts: int
    counts: list[tuple[Feature, int, int]]

    @property
    def by_text(self) -> Counter[Feature]:
        return Counter({feature: number for feature, number, _ in self.counts})

    @property
    def by_prompt(self) -> Counter[Feature]:
        return Counter({feature: number for feature, _, number in self.counts})


@dataclass(frozen=True)
class KeptSurroundings:
    """Features of what surrounds texts that are not kept.

    Attributes
    ----------
    length
        Number of characters of the median excerpt.
    by_window
        Surroundings by the number of characters that were examined.
    """

    length: int
    by_window: dict[int, Surroundings]


def keep_surroundings(texts: Sequence[Excerpt], fewest: int = 1) -> KeptSurroundings:
    """Count what surrounds texts, without what few texts have (`fewest` too), and without features of several words."""
    by_window = {}
    for window in _WINDOWS:
        counted = _surroundings(texts, window)
        shared = [
            entry
            for entry in counted.counts
            if entry[1] > max(ALMOST_NONE * len(texts), fewest - 1) and len(entry[0][1].split()) <= _MOST_WORDS_KEPT
        ]
        by_window[window] = replace(counted, counts=shared)
    return KeptSurroundings(_median_length(texts), by_window)


def find_wrappers(
    reference: Sequence[Excerpt], candidate: Sequence[Excerpt], kept: KeptSurroundings | None = None
) -> list[Wrapper]:
    """Find the features that give a side away, the clearest first; of those in one another, the longest.

    Parameters
    ----------
    kept
        What surrounds the texts of the reference, if these are not there; it lacks what few of them have.
    """
    if not candidate or not (reference or kept):
        return []
    length = kept.length if kept else _median_length(reference)
    window = max(_SMALLEST_WINDOW, min(length, _median_length(candidate)))
    if kept:
        window = max(each for each in kept.by_window if each <= window)
    sides = kept.by_window[window] if kept else _surroundings(reference, window), _surroundings(candidate, window)
    by_text = [counted.by_text for counted in sides]
    clear = []
    for kind, example in _significant([counted.by_prompt for counted in sides], [counted.prompts for counted in sides]):
        numbers = [counter[kind, example] for counter in by_text]
        low, high = sorted(number / counted.texts for number, counted in zip(numbers, sides, strict=True))
        if is_clear(low, high):
            shown = _show_frame(example, [*reference, *candidate]) if kind == "frame" else example
            clear.append((high - low, Wrapper(kind, shown, *numbers, *(counted.texts for counted in sides))))
    return _without_parts([wrapper for _, wrapper in sorted(clear, key=lambda each: (-each[0], *_order(each[1])))])


def _median_length(texts: Sequence[Excerpt]) -> int:
    return int(median(len(each.head) for each in texts))


def _surroundings(texts: Sequence[Excerpt], window: int) -> Surroundings:
    """Count the features of texts, and of the first text of each prompt."""
    features = [_features(each, window) for each in texts]
    units = {text.prompt: each for text, each in zip(texts[::-1], features[::-1], strict=True)}
    by_text, by_prompt = (Counter(feature for each in sets for feature in each) for sets in (features, units.values()))
    return Surroundings(len(texts), len(units), [(each, number, by_prompt[each]) for each, number in by_text.items()])


def is_clear(low: float, high: float) -> bool:
    """Return whether shares of two sides are so different that users see it."""
    return high >= NEARLY_ALL and low <= ALMOST_NONE


def _show_frame(shape: str, texts: Sequence[Excerpt]) -> str:
    """Return the beginning of the first line of such a shape; the shape itself if its texts are not there."""
    lines = (line.strip() for text in texts for line in text.head.split("\n"))
    shown = (match[0] for line in lines if _frame(line) == shape and (match := _FRAME.match(line[:40])))
    return next(shown, shape)


def _order(wrapper: Wrapper) -> tuple[int, int]:
    return -len(wrapper.example), list(_PHRASES).index(wrapper.kind)


def _without_parts(wrappers: Sequence[Wrapper]) -> list[Wrapper]:
    """Return the wrappers that are not in one before them, and do not hold it."""
    kept: list[Wrapper] = []
    for wrapper in wrappers:
        named = [each.example for each in kept if each.example]
        if not wrapper.example or not any(wrapper.example in name or name in wrapper.example for name in named):
            kept.append(wrapper)
    return kept


def _significant(counts: Sequence[Counter[Feature]], numbers: Sequence[int]) -> list[Feature]:
    """Return the features whose shares differ by Fisher's exact test after Holm's adjustment."""
    sizes = np.array(numbers)
    least = NEARLY_ALL * sizes.min()
    most = max(sizes[0] + ALMOST_NONE * sizes[1], sizes[1] + ALMOST_NONE * sizes[0])
    tried = [feature for feature in counts[0] | counts[1] if least <= counts[0][feature] + counts[1][feature] <= most]
    if not tried:
        return []
    first = np.array([counts[0][feature] for feature in tried])
    total = first + np.array([counts[1][feature] for feature in tried])
    number, law = np.arange(numbers[0] + 1), hypergeometric_law(numbers[0], numbers[1], total)
    tails = (law * (number >= first[:, None])).sum(axis=1), (law * (number <= first[:, None])).sum(axis=1)
    p_values = np.minimum(1, 2 * np.minimum(*tails))
    order = np.argsort(p_values, kind="stable")
    adjusted = np.maximum.accumulate(p_values[order] * np.arange(len(tried), 0, -1))
    return [tried[index] for index in order[adjusted <= LEVEL]]


def _features(text: Excerpt, window: int) -> frozenset[Feature]:
    """Return the features of a text; single marks and lines of its first characters, since long texts have more."""
    start = text.head[:window]
    lines = [line.strip() for line in text.head.split("\n") if line.strip()]
    return frozenset((*_edges(text), *_inside(start), *_lines(start, lines), *_manner(text.head)))


def _edges(text: Excerpt) -> Iterator[Feature]:
    """Yield the beginnings of a text that end with a word, and the ends that begin with one, without final marks."""
    start, end = text.head.lstrip()[: _ENDS + 1], text.tail.rstrip()[-_ENDS - 1 :]
    for length in range(1, min(_ENDS, len(start)) + 1):
        beginning = start[:length].strip(_ORDINARY + " \n\t")
        if beginning and not (start[length - 1 : length].isalnum() and start[length : length + 1].isalnum()):
            yield "begins", beginning
    for length in range(1, min(_ENDS, len(end)) + 1):
        ending = end[-length:].strip(_ORDINARY + " \n\t")
        before = end[-length - 1 : -length]
        if ending and not (end[-length].isalnum() and before.isalnum()):
            yield "ends", ending


def _inside(text: str) -> Iterator[Feature]:
    for match in _INSIDE.finditer(text):
        yield "inside", re.sub(r"\d+", "0", match[0])


def _lines(start: str, lines: Sequence[str]) -> Iterator[Feature]:
    if len(lines) > 1:
        yield from (("line", line) for line in lines if len(line) <= _LONGEST_LINE and line in start)
    if len(lines) >= 4 and len(set(lines)) <= 0.6 * len(lines):
        yield "repeated", ""
    if len(lines) >= 3:
        frames = Counter(shape for line in lines if (shape := _frame(line)))
        yield from (("frame", shape) for shape, number in frames.items() if 2 * number >= len(lines))


def _frame(line: str) -> str:
    """Return how a line begins, up to its first mark: "Ann Lee:" is "Aa Aa:"; "" without a mark after few words."""
    match = _FRAME.match(line[:40])
    shape = re.sub(r"\d+", "0", match[0]) if match else ""
    return regex.sub(r"\p{L}+", lambda word: "Aa" if word[0][0].isupper() else "a", shape)


def _manner(text: str) -> Iterator[Feature]:
    marks, blanks = len(_MARK_OF_SENTENCES.findall(text)), len(_BLANK_BEFORE_MARK.findall(text))
    if blanks >= 2 and 2 * blanks >= marks:
        yield "blanks", ""
    if "\n" in text.strip():
        yield "breaks", "\n"
    if "\n\n" in text.strip():
        yield "paragraphs", "\n\n"
    if text.lower() != text.upper():
        if text == text.lower():
            yield "small", ""
        if text == text.upper():
            yield "capitals", ""
