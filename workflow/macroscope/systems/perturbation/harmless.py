"""Harmless changes, which readers would not mind: what a critic finds here is not a fault of a text.

Each is the twin of damages of its kind, at the same dose.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from macroscope.documents import Document
from macroscope.natural_language.languages import LANGUAGES, name_of
from macroscope.natural_language.rewordings import lacks_rewordings, rewordings
from macroscope.natural_language.sentences import split_sentences
from macroscope.systems.perturbation.declaration import Touch, declare, replace_some
from macroscope.systems.perturbation.pieces import Place

_CURLY = {"'": "’", "’": "'", '"': "”", "“": '"', "”": '"', "‘": "'"}
_DASHES = {" - ": " – ", " – ": " - ", "—": " – "}
_MARKS = re.compile("|".join(map(re.escape, sorted([*_CURLY, *_DASHES], key=len, reverse=True))))


@declare("words", keeps_length=True, dose=0.25, lacks=lacks_rewordings("synonyms"))
def replace_synonyms(document: Document, touch: Touch) -> Document:
    """Replace words by synonyms from a list."""
    return _reword(document, touch, "synonyms")


@declare("words", keeps_length=True, dose=0.25, lacks=lacks_rewordings("spellings"))
def replace_spellings(document: Document, touch: Touch) -> Document:
    """Replace British spellings by American ones, and the reverse."""
    return _reword(document, touch, "spellings")


@declare("words", keeps_length=False, dose=0.25, lacks=lacks_rewordings("contractions"))
def contract_words(document: Document, touch: Touch) -> Document:
    """Contract words ("do not" to "don't"), and write contracted ones out."""
    return _reword(document, touch, "contractions")


def _reword(document: Document, touch: Touch, kind: str) -> Document:
    return replace_some(document, touch, rewordings(kind, touch.language).places)


@declare("words", keeps_length=True, dose=0.25)
def replace_quotes(document: Document, touch: Touch) -> Document:
    """Replace straight quotation marks and apostrophes by curly ones, hyphens by dashes, and the reverse."""

    def find(text: str) -> list[Place]:
        return [(*match.span(), (_CURLY | _DASHES)[match.group()]) for match in _MARKS.finditer(text)]

    return replace_some(document, touch, find)


@declare("sentences", keeps_length=True, dose=0.25)
def move_paragraph_breaks(document: Document, touch: Touch) -> Document:
    """Break paragraphs between sentences, or join them; the dose is the share of the places between two sentences."""

    def find(text: str) -> list[Place]:
        places, end = [], 0
        between = "\n" if not LANGUAGES[touch.language].has_spaces else " "
        for sentence in split_sentences(text, touch.language)[:-1]:
            end += len(sentence)
            start = end - (len(sentence) - len(sentence.rstrip()))
            places.append((start, end, between if "\n" in text[start:end] else "\n"))
        return places

    return replace_some(document, touch, find)


def _lacks_capitals(language: str, **options: Any) -> str | None:
    return None if LANGUAGES[language].has_capitals else f"{name_of(language)} has no capitals; omit the step"


@declare("sections", keeps_length=True, dose=0.25, lacks=_lacks_capitals)
def recase_headings(document: Document, touch: Touch) -> Document:
    """Write titles of sections in capitals, or capitalised ones in small letters."""
    titled = [number for number, section in enumerate(document.sections) if section.title]
    sections = list(document.sections)
    for place in touch.choose(len(titled)).tolist():
        section = sections[titled[place]]
        title = section.title or ""
        sections[titled[place]] = replace(section, title=title.capitalize() if title.isupper() else title.upper())
    return replace(document, sections=tuple(sections))


@declare("collection", keeps_length=True, dose=0.25, joins=True)
def shuffle_documents(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Put documents of the collection in another order."""
    return [documents[number] for number in touch.rearrange(len(documents))] if len(documents) > 1 else list(documents)
