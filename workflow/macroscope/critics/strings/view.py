"""What the strings critic sees of a single document: its words, its pairs of neighbouring words, and its length."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from macroscope.critics.strings.texts import read_texts
from macroscope.statistics.telling_apart import View
from macroscope.systems.ngram.backoff import words_of

_NEIGHBOURS = "\x00"
"""Between the words of a pair: no word has it."""


def view(latents: Path, scores: Path | None) -> View:
    """Words and pairs of neighbouring words of every text, and how many words it has."""
    texts = read_texts(latents)
    bags: tuple[list[list[str]], list[list[str]]] = ([], [])
    for text in texts.texts:
        words = list(words_of(text))
        bags[0].append(words)
        bags[1].append([_NEIGHBOURS.join(pair) for pair in pairwise(words)])
    return View(texts.keys, texts.words.astype(float)[:, np.newaxis], bags)
