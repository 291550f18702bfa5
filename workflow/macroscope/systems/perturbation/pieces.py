"""Pieces of a text and their rearrangement, which leaves white space in place; and rearrangement of sections.

A *piece* is a word or a sentence with the white space after it (the first one also with the white space before it), so
that the pieces of a text, joined, are the text. Words are separated by white space and include adjacent punctuation.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from macroscope.documents import Document, Section
from macroscope.natural_language.words import needs_dictionary, split_at_spaces

_WORD = re.compile(r"^\s*\S+\s*|\S+\s*")


def split_words(text: str) -> list[str]:
    """Split a text into words, each with the white space after it; a dictionary splits scripts without spaces."""
    pieces = _WORD.findall(text)
    return [word for piece in pieces for word in _cut(piece)] if needs_dictionary(text) else pieces


def _cut(piece: str) -> list[str]:
    words = split_at_spaces(piece)
    begin, end = len(piece) - len(piece.lstrip()), len(piece.rstrip())
    return [piece[:begin] + words[0], *words[1:-1], words[-1] + piece[end:]] if len(words) > 1 else [piece]


def rearrange(pieces: Sequence[str], order: Iterable[int]) -> list[str]:
    """Put pieces in another order; white space, including line breaks, stays in place."""
    return [replace_core(piece, pieces[index].strip()) for piece, index in zip(pieces, order, strict=True)]


def replace_core(piece: str, core: str) -> str:
    """Replace a piece except for the white space around it."""
    begin, end = len(piece) - len(piece.lstrip()), len(piece.rstrip())
    return piece[:begin] + core + piece[end:]


def regroup(pieces: Iterable[str], sizes: Iterable[int]) -> list[str]:
    """Join pieces to texts with given numbers of pieces."""
    remaining = iter(pieces)
    return ["".join(islice(remaining, size)) for size in sizes]


def replace_texts(document: Document, texts: Iterable[str]) -> Document:
    """Replace the texts of a document's sections; remove sections without text, with their titles.

    The document's sentences are removed, because they no longer apply.
    """
    pairs = zip(document.sections, texts, strict=True)
    sections = tuple(Section(section.title, text) for section, text in pairs if text.strip())
    return replace(document, sections=sections, sentences=None)


def round_share(share: float, n: int) -> int:
    """Return a share of n as a number: the nearest integer, but at least one if n is positive."""
    return min(n, max(1, round(share * n)))


def shuffle_sections(document: Document, rng: np.random.Generator) -> Document:
    """Put the sections of a document in random order, each with its title; all orders are equally likely."""
    order = rng.permutation(len(document.sections))
    return replace(document, sections=tuple(document.sections[number] for number in order))


def drop_sections(document: Document, share: float, rng: np.random.Generator) -> Document:
    """Remove a share of the sections, at least one and never all; a document of one section is unchanged."""
    n = len(document.sections)
    if n < 2:
        return document
    dropped = min(n - 1, round_share(share, n))
    kept = sorted(rng.permutation(n)[dropped:])
    return replace(document, sections=tuple(document.sections[number] for number in kept))
