"""Perturbations of sentences within a document: shuffling, repetition and removal."""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from macroscope.documents import Document
from macroscope.natural_language.sentences import split_sentences
from macroscope.systems.perturbation.pieces import rearrange, regroup, replace_core, replace_texts, round_share


def shuffle_sentences(document: Document, language: str, rng: np.random.Generator) -> Document:
    """Put the sentences of every section in random order; paragraphs keep their numbers of sentences."""
    texts = []
    for section in document.sections:
        sentences = split_sentences(section.text, language)
        texts.append("".join(rearrange(sentences, rng.permutation(len(sentences)))))
    return replace_texts(document, texts)


def repeat_sentences(document: Document, share: float, language: str, rng: np.random.Generator) -> Document:
    """Repeat a share of a document's sentences, at least one, immediately."""
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    for number in rng.permutation(len(sentences))[: round_share(share, len(sentences))]:
        core = sentences[number].strip()
        sentences[number] = replace_core(sentences[number], f"{core} {core}")
    return replace_texts(document, regroup(sentences, map(len, pieces)))


def remove_sentences(document: Document, number: int, language: str, rng: np.random.Generator) -> Document:
    """Remove sentences of a document, but not its first or last one, nor two adjacent ones (cai2020: MSD).

    All choices are equally likely. If there are too few sentences, as many as possible are removed.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    for place in 1 + sample_non_adjacent(len(sentences) - 2, number, rng):
        # A paragraph that loses its last sentence keeps the line break; one that loses its only sentence loses it, too.
        is_last, is_only = sentences[place].endswith("\n"), sentences[place - 1].endswith("\n")
        sentences[place] = "\n" if is_last and not is_only else ""
    return replace_texts(document, (text.strip() for text in regroup(sentences, map(len, pieces))))


def sample_non_adjacent(places: int, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sample a number of places in a row, no two of them adjacent; all such choices are equally likely.

    Returns
    -------
    array
        Sorted places; fewer than `number` if there are fewer than 2 * number - 1 places.
    """
    number = min(number, max(0, (places + 1) // 2))
    # Choices of non-adjacent places correspond to arbitrary choices of fewer places, moved apart by one place each.
    chosen = np.sort(rng.permutation(max(0, places - number + 1))[:number])
    return np.asarray(chosen + np.arange(number), dtype=np.int64)
