"""Perturbations across documents: halves of different documents, joined.

Partners are drawn as one random cycle through all documents, so that every half is used once and none stays where it
was. A random permutation would leave one document, on average, as it is, whatever their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from macroscope.corpora.plain_text import split_sentences
from macroscope.documents import Document, Section


@dataclass(frozen=True)
class Halves:
    """A document in two.

    Attributes
    ----------
    first, second
        Sections; the one within which the cut lies is in both, with its title.
    within
        Whether the cut lies within a section, or the document is one section: then the half of another document that is
        cut likewise continues that section. So texts of one section stay texts of one section, and no document gains a
        section by the cut.
    """

    first: tuple[Section, ...]
    second: tuple[Section, ...]
    within: bool


def swap_first_halves(documents: Sequence[Document], language: str, rng: np.random.Generator) -> list[Document]:
    """Give every document the first half of another one, by sentences; it keeps its second half, id and title.

    Of an odd number of sentences, the one in the middle belongs to the second half.
    """
    halves = [halves_by_sentences(document, language, rounded=np.floor) for document in documents]
    partners = random_cycle(len(documents), rng)
    return [
        replace(document, sections=joined(halves[partner], own))
        for document, own, partner in zip(documents, halves, partners, strict=True)
    ]


def splice_documents(documents: Sequence[Document], language: str, rng: np.random.Generator) -> list[Document]:
    """Give every document the second half of another one, by sections; it keeps its first half, id and title.

    Of an odd number of sections, the one in the middle belongs to the first half. Where there is one section, its
    sentences are halved likewise.
    """
    halves = [halves_by_sections(document, language) for document in documents]
    partners = random_cycle(len(documents), rng)
    return [
        replace(document, sections=joined(own, halves[partner]))
        for document, own, partner in zip(documents, halves, partners, strict=True)
    ]


def random_cycle(n: int, rng: np.random.Generator) -> list[int]:
    """Partner of each of n documents: a random permutation of one cycle, which leaves none in place where n > 1."""
    order = rng.permutation(n)
    partners = np.empty(n, dtype=int)
    partners[order] = np.roll(order, -1)
    return partners.tolist()


def halves_by_sentences(document: Document, language: str, rounded: Callable[[float], float]) -> Halves:
    """Cut a document after half of its sentences.

    Parameters
    ----------
    rounded
        What half of an odd number of sentences is.
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


def halves_by_sections(document: Document, language: str) -> Halves:
    """Cut a document after half of its sections; where there is one, after half of its sentences."""
    if len(document.sections) == 1:
        return halves_by_sentences(document, language, rounded=np.ceil)
    middle = -(-len(document.sections) // 2)
    return Halves(document.sections[:middle], document.sections[middle:], within=False)


def joined(begin: Halves, end: Halves) -> tuple[Section, ...]:
    """Join the first half of one document to the second half of another."""
    first, second = begin.first, end.second
    if not (begin.within and end.within and first and second):
        return first + second
    # The section in the middle: it carries the title that it began with.
    middle = Section(first[-1].title, f"{first[-1].text} {second[0].text}")
    return (*first[:-1], middle, *second[1:])
