"""Perturbations of sentences within a document: their order, how often they are said, and which are missing."""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from macroscope.corpora.plain_text import split_sentences
from macroscope.documents import Document
from macroscope.systems.perturbation.pieces import number_of, rearranged, regrouped, with_core, with_texts


def shuffle_sentences(document: Document, language: str, rng: np.random.Generator) -> Document:
    """Put the sentences of every section in random order; its paragraphs keep their numbers of sentences."""
    texts = []
    for section in document.sections:
        sentences = split_sentences(section.text, language)
        texts.append("".join(rearranged(sentences, rng.permutation(len(sentences)))))
    return with_texts(document, texts)


def repeat_sentences(document: Document, share: float, language: str, rng: np.random.Generator) -> Document:
    """Say a share of a document's sentences, at least one, twice in a row."""
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    for number in rng.permutation(len(sentences))[: number_of(share, len(sentences))]:
        core = sentences[number].strip()
        sentences[number] = with_core(sentences[number], f"{core} {core}")
    return with_texts(document, regrouped(sentences, map(len, pieces)))


def remove_sentences(document: Document, number: int, language: str, rng: np.random.Generator) -> Document:
    """Leave out some sentences of a document, never its first or last one, and never two side by side (cai2020: MSD).

    All choices are equally likely. Where there are too few sentences for so many, as many go as can.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    for place in 1 + not_adjacent(len(sentences) - 2, number, rng):
        # A paragraph whose last sentence goes keeps its line break, and one whose only sentence goes has none.
        is_last, is_only = sentences[place].endswith("\n"), sentences[place - 1].endswith("\n")
        sentences[place] = "\n" if is_last and not is_only else ""
    return with_texts(document, (text.strip() for text in regrouped(sentences, map(len, pieces))))


def not_adjacent(places: int, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw some of a row of places, no two of them side by side; every such choice is equally likely.

    Returns
    -------
    array
        In order; fewer than `number` where there are fewer than 2 * number - 1 places.
    """
    number = min(number, max(0, (places + 1) // 2))
    # A choice of places that are not side by side is any choice, moved apart by one place each.
    chosen = np.sort(rng.permutation(max(0, places - number + 1))[:number])
    return np.asarray(chosen + np.arange(number), dtype=np.int64)
