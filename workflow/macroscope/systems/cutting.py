"""Cuts of documents after a sentence."""

from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from macroscope.documents import Document
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import count_words
from macroscope.systems.perturbation.pieces import regroup, replace_texts


def cut_document(document: Document, words: int, language: str) -> Document:
    """Keep the first sentences of a document, at least one: the number whose words are nearest to `words`.

    Of two numbers of sentences that are equally near, the smaller is taken. Sections after the last sentence are
    removed, with their titles. A document that keeps all of its sentences is unchanged.

    Parameters
    ----------
    language
        ISO 639-1 code; see `split_sentences`.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    if not sentences:
        return document
    kept = count_kept(np.array(list(accumulate(map(count_words, sentences)))), words)
    if kept == len(sentences):
        return document
    shortened = [sentence if number < kept else "" for number, sentence in enumerate(sentences)]
    return replace_texts(document, (text.rstrip() for text in regroup(shortened, map(len, pieces))))


def count_kept(ends: NDArray[np.int64], words: int) -> int:
    """Return the number of sentences, at least one, after which the number of words is nearest to `words`.

    Parameters
    ----------
    ends
        Number of words up to the end of each sentence.
    """
    return int(np.abs(ends - words).argmin()) + 1
