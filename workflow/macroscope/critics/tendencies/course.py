"""Repetition and new words along the texts."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.tendencies.features import number_pairs
from macroscope.documents import Document, in_batches
from macroscope.natural_language.tokens import Batch, make_tokenizer
from macroscope.statistics.document_features import Array

_AT_ONCE = 256


def follow(inputs: CourseInputs) -> Follow:
    """Return the function that marks repeated sequences of words, and new words; see `critics.course`."""
    options = inputs.options
    tokenize = make_tokenizer(options.language_pipeline or options.language or inputs.language)

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        for part in in_batches(documents, _AT_ONCE):
            batch = tokenize([document.text for document in part])
            yield from np.split(mark_words(batch), np.cumsum(batch.lengths)[:-1], axis=1)

    return values


def mark_words(batch: Batch) -> Array:
    """Return whether each token ends a sequence of four that its text has had before, and whether it is new there.

    Returns
    -------
    array
        2 x tokens of all texts: 1 or 0.
    """
    tokens = number_pairs(batch.texts, batch.ids)  # those of different texts have different numbers
    pairs = number_pairs(tokens[:-1], tokens[1:])
    sequences = number_pairs(pairs[:-2], pairs[2:])
    marks = np.zeros((2, len(tokens)))
    marks[0, len(tokens) - len(sequences) :] = pd.Series(sequences).duplicated()
    marks[1] = ~pd.Series(tokens).duplicated()
    return marks
