"""Perturbations across documents: halves of different documents are joined.

Documents are paired by one random cycle through all of them, so that every half is used once and none stays in its
document. A random permutation would leave one document unchanged on average, whatever their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from macroscope.documents import Document, Section
from macroscope.natural_language.sentences import split_sentences


@dataclass(frozen=True)
class Halves:
    """Halves of a document.

    Attributes
    ----------
    first, second
        Sections of each half; a section that contains the cut is in both, with its title.
    within
        Whether the cut is within a section, or the document has one section. Then the other half, if it is also cut
        within a section, continues that section. So a text of one section stays one section, and no document gains a
        section by the cut.
    """

    first: tuple[Section, ...]
    second: tuple[Section, ...]
    within: bool


def swap_first_halves(documents: Sequence[Document], language: str, rng: np.random.Generator) -> list[Document]:
    """Replace the first half of every document by that of another one, by sentences; it keeps its id and title.

    With an odd number of sentences, the middle one belongs to the second half.
    """
    halves = [split_by_sentences(document, language, rounded=np.floor) for document in documents]
    permutation = sample_cycle(len(documents), rng)
    return [
        replace(document, sections=join(halves[index], document_halves))
        for document, document_halves, index in zip(documents, halves, permutation, strict=True)
    ]


def splice_documents(documents: Sequence[Document], language: str, rng: np.random.Generator) -> list[Document]:
    """Replace the second half of every document by that of another one, by sections; it keeps its id and title.

    With an odd number of sections, the middle one belongs to the first half. A document of one section is divided by
    sentences in the same way.
    """
    halves = [split_by_sections(document, language) for document in documents]
    permutation = sample_cycle(len(documents), rng)
    return [
        replace(document, sections=join(document_halves, halves[index]))
        for document, document_halves, index in zip(documents, halves, permutation, strict=True)
    ]


def sample_cycle(n: int, rng: np.random.Generator) -> list[int]:
    """Sample a random permutation of one cycle, which leaves no element in place if n > 1."""
    order = rng.permutation(n)
    permutation = np.empty(n, dtype=int)
    permutation[order] = np.roll(order, -1)
    return permutation.tolist()


def split_by_sentences(document: Document, language: str, rounded: Callable[[float], float]) -> Halves:
    """Split a document after half of its sentences.

    Parameters
    ----------
    rounded
        Rounding of half of an odd number of sentences.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    remaining = int(rounded(sum(map(len, pieces)) / 2))
    first, second = [], []
    within = len(document.sections) == 1
    for section, sentences in zip(document.sections, pieces, strict=True):
        if remaining >= len(sentences):
            first.append(section)
        elif remaining <= 0:
            second.append(section)
        else:
            within = True
            first.append(Section(section.title, "".join(sentences[:remaining]).rstrip()))
            second.append(Section(section.title, "".join(sentences[remaining:])))
        remaining -= len(sentences)
    return Halves(tuple(first), tuple(second), within)


def split_by_sections(document: Document, language: str) -> Halves:
    """Split a document after half of its sections, or after half of its sentences if it has one section."""
    if len(document.sections) == 1:
        return split_by_sentences(document, language, rounded=np.ceil)
    middle = -(-len(document.sections) // 2)
    return Halves(document.sections[:middle], document.sections[middle:], within=False)


def join(begin: Halves, end: Halves) -> tuple[Section, ...]:
    """Join the first half of one document to the second half of another."""
    first, second = begin.first, end.second
    if not (begin.within and end.within and first and second):
        return first + second
    # The section in the middle keeps the title of its beginning.
    middle = Section(first[-1].title, f"{first[-1].text} {second[0].text}")
    return (*first[:-1], middle, *second[1:])
