"""Pieces of a text, and what rearranging them leaves in place.

A *piece* is a word or a sentence with the white space after it (the first one also with the white space before it), so
that the pieces of a text, joined, are the text. Words are what white space separates, with the punctuation on them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from macroscope.documents import Document, Section

_WORD = re.compile(r"^\s*\S+\s*|\S+\s*")


def split_words(text: str) -> list[str]:
    """Cut a text into words, each with the white space after it."""
    return _WORD.findall(text)


def rearranged(pieces: Sequence[str], order: Iterable[int]) -> list[str]:
    """Put pieces in another order; the white space, line breaks among it, stays where it is."""
    return [with_core(piece, pieces[other].strip()) for piece, other in zip(pieces, order, strict=True)]


def with_core(piece: str, core: str) -> str:
    """Put something else into the white space of a piece."""
    begin, end = len(piece) - len(piece.lstrip()), len(piece.rstrip())
    return piece[:begin] + core + piece[end:]


def regrouped(pieces: Iterable[str], sizes: Iterable[int]) -> list[str]:
    """Join pieces to texts of given numbers of pieces."""
    remaining = iter(pieces)
    return ["".join(islice(remaining, size)) for size in sizes]


def with_texts(document: Document, texts: Iterable[str]) -> Document:
    """Put other texts into the sections of a document; a section without any text goes, and its title with it.

    What was known of its sentences is so no longer.
    """
    pairs = zip(document.sections, texts, strict=True)
    sections = tuple(Section(section.title, text) for section, text in pairs if text.strip())
    return replace(document, sections=sections, sentences=None)


def number_of(share: float, n: int) -> int:
    """Number of things that a share of n is: the nearest, but at least one where there is any."""
    return min(n, max(1, round(share * n)))


def shuffle_sections(document: Document, rng: np.random.Generator) -> Document:
    """Put the sections of a document in random order, each with its title; all orders are equally likely."""
    order = rng.permutation(len(document.sections))
    return replace(document, sections=tuple(document.sections[number] for number in order))


def drop_sections(document: Document, share: float, rng: np.random.Generator) -> Document:
    """Leave out a share of the sections, at least one, and never all: a document of one section stays as it is."""
    n = len(document.sections)
    if n < 2:
        return document
    dropped = min(n - 1, number_of(share, n))
    kept = sorted(rng.permutation(n)[dropped:])
    return replace(document, sections=tuple(document.sections[number] for number in kept))
