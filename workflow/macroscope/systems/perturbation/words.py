"""Perturbations of words: truncation, removal, shuffling."""

import re
from collections.abc import Callable, Collection
from itertools import chain

import numpy as np

from macroscope.documents import Document
from macroscope.systems.perturbation.pieces import rearrange, regroup, replace_texts, round_share, split_words

_LETTER = re.compile(r"\w")
_STOPS = ".,;:!?…"


def truncate(document: Document, share: float, words: int | None) -> Document:
    """Keep the first words of a document, at least one; remove the sections after them.

    Parameters
    ----------
    share
        Share of the words.
    words
        Number of words instead of a share; a shorter document is unchanged.
    """
    pieces = [split_words(section.text) for section in document.sections]
    total = sum(map(len, pieces))
    remaining = min(total, words) if words is not None else round_share(share, total)
    texts = []
    for section, section_words in zip(document.sections, pieces, strict=True):
        is_complete = remaining >= len(section_words)
        texts.append(section.text if is_complete else "".join(section_words[:remaining]).rstrip())
        remaining = max(0, remaining - len(section_words))
    return replace_texts(document, texts)


def shuffle_words(document: Document, rng: np.random.Generator) -> Document:
    """Put all words of a document in random order; titles and the numbers of words of lines stay the same."""
    pieces = [split_words(section.text) for section in document.sections]
    words = list(chain.from_iterable(pieces))
    shuffled = rearrange(words, rng.permutation(len(words)))
    return replace_texts(document, regroup(shuffled, map(len, pieces)))


def remove_articles(document: Document, articles: Collection[str], match_case: bool) -> Document:
    """Remove articles, in any case unless `match_case`."""
    if match_case:
        return _remove_words(document, lambda word: word in articles)
    lowered = {article.lower() for article in articles}
    return _remove_words(document, lambda word: word.lower() in lowered)


def remove_stop_words(document: Document, stop_words: Collection[str]) -> Document:
    """Remove stop words, in any case.

    Parameters
    ----------
    stop_words
        Stop words in lower case, with straight apostrophes.
    """
    return _remove_words(document, lambda word: word.lower().replace("’", "'") in stop_words)


def _remove_words(document: Document, is_removed: Callable[[str], bool]) -> Document:
    texts = ["\n".join(_remove_from_lines(section.text, is_removed)) for section in document.sections]
    return replace_texts(document, texts)


def _remove_from_lines(text: str, is_removed: Callable[[str], bool]) -> list[str]:
    """Remove words from the lines of a text; a line that loses all words is removed, too."""
    lines = []
    for line in text.split("\n"):
        words = line.split()
        remaining = _remove_from_line(words, is_removed)
        if remaining == words:
            lines.append(line)
        elif remaining:
            lines.append(" ".join(remaining))
    return lines


def _remove_from_line(words: list[str], is_removed: Callable[[str], bool]) -> list[str]:
    """Remove words; punctuation on a removed word passes to its neighbour: "(the end of it." -> "(end of."."""
    remaining: list[str] = []
    opening = ""
    for word in words:
        before, core, after = _split_punctuation(word)
        # One letter before a full stop is an initial: "Robert A. Heinlein".
        if not core or not is_removed(core) or (len(core) == 1 and after.startswith(".")):
            remaining.append(opening + word)
            opening = ""
            continue
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
