"""Texts of systems, with their prompts: beginnings of equal length, and their words."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.natural_language.words import count_words, cut_after_words
from macroscope.phrases import format_count
from macroscope.statistics.document_groups import FEWEST_PROMPTS, name_prompts

log = logging.getLogger("macroscope")
MOST_PROMPTS = 1000
"""Largest number of prompts of a collection that count."""
FEWEST = 2
"""Number of texts below which there are no two to compare."""
MOST_WORDS, FEWEST_WORDS = 400, 10
"""Numbers of first words that are compared: by default at most, and at least."""
_SHORT_SHARE = 0.1
"""Share of a collection's texts that may be shorter than the number of words that is chosen."""


@dataclass(frozen=True)
class Line:
    """A line of a text: a paragraph, or a heading."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True)
class Texts:
    """Texts of a collection that are long enough.

    Attributes
    ----------
    name
        Name of the system, or of the real texts.
    documents
        Documents in the order of the files.
    prompts
        Number of the prompt of each document; texts of several collections on one prompt have the same.
    short
        Number of documents left out because they have too few words.
    unused
        Number of documents left out because their prompts are beyond `MOST_PROMPTS`.
    """

    name: str
    documents: Sequence[Document]
    prompts: NDArray[np.int64]
    short: int
    unused: int


def choose_words(read: Mapping[str, Sequence[Document]]) -> int:
    """Return the number of first words to compare: `MOST_WORDS`, or fewer that nine tenths of all collections have."""
    shortest = [
        np.quantile([count_words(document.text) for document in documents], _SHORT_SHARE) for documents in read.values()
    ]
    return int(np.clip(min(shortest) // 10 * 10, FEWEST_WORDS, MOST_WORDS))


def choose_texts(read: Mapping[str, Sequence[Document]], words: int, seed: int) -> list[Texts]:
    """Choose the texts of several collections that are compared.

    Parameters
    ----------
    read
        Name -> all documents of a collection.
    words
        Number of words that a text needs to count.
    seed
        Seed of the choice of prompts, if a collection has more than `MOST_PROMPTS`. Prompts of many collections are
        preferred.
    """
    keys = pd.DataFrame(((d.id, d.opening) for each in read.values() for d in each), columns=["id", "opening"])
    numbers = pd.factorize(name_prompts(keys))[0]
    labels = np.split(numbers, np.cumsum([len(documents) for documents in read.values()])[:-1])
    is_long = [np.array([_has_words(d, words) for d in documents], dtype=bool) for documents in read.values()]
    order = _order_prompts([prompts[long] for prompts, long in zip(labels, is_long, strict=True)], seed)
    collections = []
    for (name, documents), prompts, long in zip(read.items(), labels, is_long, strict=True):
        usable = order[np.isin(order, prompts[long])][:MOST_PROMPTS]
        if long.sum() < FEWEST:
            raise MacroscopeError(
                f"{name}: too few texts of {words} words or more ({long.sum()}); give at least {FEWEST} of them, or"
                " fewer --words"
            )
        if len(usable) < FEWEST_PROMPTS:
            log.warning(
                "%s: %s with texts of %d words or more: its similarities have no intervals and no tests below %d",
                name,
                format_count(len(usable), "prompt"),
                words,
                FEWEST_PROMPTS,
            )
        chosen = np.flatnonzero(long & np.isin(prompts, usable))
        collections.append(
            Texts(
                name,
                [documents[k] for k in chosen.tolist()],
                prompts[chosen],
                int((~long).sum()),
                int(long.sum()) - len(chosen),
            )
        )
    return _number_prompts(collections)


def cut_lines(document: Document, words: int) -> list[Line]:
    """Return the lines of a document up to its `words`-th word; headings do not count as words."""
    lines, left = [Line(document.title, is_heading=True)] if document.title else [], words
    for section in document.sections:
        if section.title:
            lines.append(Line(section.title, is_heading=True))
        for text in filter(str.strip, section.text.splitlines()):
            number = count_words(text)
            if number >= left:
                return [*lines, Line(cut_after_words(text, left))]
            lines.append(Line(text))
            left -= number
    return lines


def _has_words(document: Document, words: int) -> bool:
    return count_words(document.text) >= words


def _order_prompts(prompts: Sequence[NDArray[np.int64]], seed: int) -> NDArray[np.int64]:
    """Return all prompts, those of the most collections first, at random among equals."""
    names, numbers = np.unique(np.concatenate([np.unique(each) for each in prompts]), return_counts=True)
    ties = np.random.default_rng(seed).permutation(len(names))
    return np.asarray(names[np.lexsort((ties, -numbers))])


def _number_prompts(collections: Sequence[Texts]) -> list[Texts]:
    """Number the prompts that are left from 0."""
    names = np.unique(np.concatenate([each.prompts for each in collections]))
    return [
        Texts(each.name, each.documents, np.searchsorted(names, each.prompts), each.short, each.unused)
        for each in collections
    ]
