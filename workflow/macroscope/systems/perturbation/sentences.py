"""Perturbations of sentences within a document: their order, and how often they are said."""

from itertools import chain

import numpy as np

from macroscope.corpora.sentences import split_sentences
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
