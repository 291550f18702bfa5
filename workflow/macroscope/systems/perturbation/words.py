"""Perturbations of words: truncation, removal, shuffling."""

import re
from collections.abc import Callable, Collection
from itertools import chain

import numpy as np

from macroscope.documents import Document
from macroscope.systems.perturbation.pieces import number_of, rearranged, regrouped, split_words, with_texts

ARTICLES = {"en": ("a", "an", "the")}
"""Articles by language."""

_LETTER = re.compile(r"\w")
_STOPS = ".,;:!?…"


def truncate(document: Document, share: float, words: int | None) -> Document:
    """Keep the first words of a document, at least one; sections beyond them go.

    Parameters
    ----------
    share
        Share of the words.
    words
        Number of words instead; a shorter document stays as it is.
    """
    pieces = [split_words(section.text) for section in document.sections]
    total = sum(map(len, pieces))
    remaining = min(total, words) if words is not None else number_of(share, total)
    texts = []
    for section, its_words in zip(document.sections, pieces, strict=True):
        whole = remaining >= len(its_words)
        texts.append(section.text if whole else "".join(its_words[:remaining]).rstrip())
        remaining = max(0, remaining - len(its_words))
    return with_texts(document, texts)


def shuffle_words(document: Document, rng: np.random.Generator) -> Document:
    """Put all words of a document in random order; sections keep their titles, and lines their numbers of words."""
    pieces = [split_words(section.text) for section in document.sections]
    words = list(chain.from_iterable(pieces))
    shuffled = rearranged(words, rng.permutation(len(words)))
    return with_texts(document, regrouped(shuffled, map(len, pieces)))


def remove_articles(document: Document, articles: Collection[str], match_case: bool) -> Document:
    """Remove articles."""
    if match_case:
        return _without(document, lambda word: word in articles)
    lowered = {article.lower() for article in articles}
    return _without(document, lambda word: word.lower() in lowered)


def remove_stop_words(document: Document, stop_words: Collection[str]) -> Document:
    """Remove stop words, in any case.

    Parameters
    ----------
    stop_words
        In lower case, with straight apostrophes.
    """
    return _without(document, lambda word: word.lower().replace("’", "'") in stop_words)


def _without(document: Document, is_removed: Callable[[str], bool]) -> Document:
    texts = ["\n".join(_lines_without(section.text, is_removed)) for section in document.sections]
    return with_texts(document, texts)


def _lines_without(text: str, is_removed: Callable[[str], bool]) -> list[str]:
    """Lines of a text without some words; a line that loses all of its words goes, one that loses none stays."""
    found = []
    for line in text.split("\n"):
        words = line.split()
        remaining = _words_without(words, is_removed)
        if remaining == words:
            found.append(line)
        elif remaining:
            found.append(" ".join(remaining))
    return found


def _words_without(words: list[str], is_removed: Callable[[str], bool]) -> list[str]:
    """Remaining words; punctuation on a removed word passes to its neighbour: "(the end of it." -> "(end of."."""
    remaining: list[str] = []
    opening = ""
    for word in words:
        before, core, after = _edges(word)
        # One letter before a full stop is an initial: "Robert A. Heinlein".
        if not core or not is_removed(core) or (len(core) == 1 and after.startswith(".")):
            remaining.append(opening + word)
            opening = ""
            continue
        opening += before
        if opening and after.strip(_STOPS):  # marks that would open and close around nothing
            opening, after = "", "".join(mark for mark in after if mark in _STOPS)
        if remaining:
            # One stop after the other says nothing more.
            remaining[-1] += after.strip(_STOPS) if remaining[-1][-1] in _STOPS else after
    if opening and remaining:
        remaining[-1] += opening
    return remaining


def _edges(word: str) -> tuple[str, str, str]:
    """Punctuation before a word, the word, punctuation after it."""
    first, last = _LETTER.search(word), _LETTER.search(word[::-1])
    if first is None or last is None:
        return word, "", ""
    begin, end = first.start(), len(word) - last.start()
    return word[:begin], word[begin:end], word[end:]
