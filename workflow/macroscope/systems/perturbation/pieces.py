"""Pieces of a text and their rearrangement, which leaves white space in place; and places in a text.

A *piece* is a word or a sentence with the white space after it (the first one also with the white space before it), so
that the pieces of a text, joined, are the text. Words are separated by white space and include adjacent punctuation.
A *place* is a range of characters with the text that a damage puts there.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from macroscope.documents import Document, Section
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import needs_dictionary, split_at_spaces

Place = tuple[int, int, str]
"""Start and end in a text, and the text to put there."""
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


def repeat_core(piece: str, between: str = " ") -> str:
    """Write a piece twice, with its white space once."""
    core = piece.strip()
    return replace_core(piece, f"{core}{between}{core}")


def regroup(pieces: Iterable[str], sizes: Iterable[int]) -> list[str]:
    """Join pieces to texts with given numbers of pieces."""
    remaining = iter(pieces)
    return ["".join(islice(remaining, size)) for size in sizes]


def change_words(document: Document, change: Callable[[list[str]], Sequence[str]]) -> Document:
    """Change the words of all sections of a document together; each stays in its section."""
    return _change([split_words(section.text) for section in document.sections], document, change)


def change_sentences(document: Document, language: str, change: Callable[[list[str]], Sequence[str]]) -> Document:
    """Change the sentences of all sections of a document together; each stays in its section."""
    return _change([split_sentences(section.text, language) for section in document.sections], document, change)


def change_paragraphs(document: Document, change: Callable[[list[str]], Sequence[str]]) -> Document:
    """Change the paragraphs (lines) of all sections of a document together; each stays in its section."""
    return _change([section.text.splitlines(keepends=True) for section in document.sections], document, change)


def _change(
    pieces: Sequence[Sequence[str]], document: Document, change: Callable[[list[str]], Sequence[str]]
) -> Document:
    changed = change([piece for of_section in pieces for piece in of_section])
    return replace_texts(document, regroup(changed, map(len, pieces)))


def replace_places(document: Document, places: Sequence[Sequence[Place]], chosen: Collection[int]) -> Document:
    """Put the replacements of the chosen places into a document.

    Parameters
    ----------
    places
        Places of each section, in order and apart.
    chosen
        Numbers of the chosen places, counted through the sections.
    """
    number, texts = 0, []
    for section, of_section in zip(document.sections, places, strict=True):
        parts, end = [], 0
        for start, stop, new in of_section:
            if number in chosen:
                parts += [section.text[end:start], new]
                end = stop
            number += 1
        texts.append("".join([*parts, section.text[end:]]))
    return replace_texts(document, texts)


def replace_texts(document: Document, texts: Iterable[str]) -> Document:
    """Replace the texts of a document's sections; remove sections without text, with their titles.

    The document's sentences are removed, because they no longer apply.
    """
    pairs = zip(document.sections, texts, strict=True)
    sections = tuple(Section(section.title, text) for section, text in pairs if text.strip())
    return replace(document, sections=sections, sentences=None)


def match_case(word: str, model: str) -> str:
    """Write a word, given in small letters, in capitals or with a first capital as another word is."""
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word


def round_share(share: float, n: int) -> int:
    """Return a share of n as a number: the nearest integer, but at least one if n is positive."""
    return min(n, max(1, round(share * n)))
