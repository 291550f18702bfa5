"""Synthetic narratives for the tests of the narrative critic."""

import numpy as np

from macroscope.critics.narratives import Narratives


def make_narratives(lengths, *, splits=None, vectors=None, write=None, name="n"):
    """Make narratives with these numbers of sentences; `write` maps a number to a sentence, by default "s<number>."."""
    starts = np.cumsum([0, *lengths])
    sentences = [write(number) if write else f"s{number}." for number in range(starts[-1])]
    ids = [f"{name}{number}" for number in range(len(lengths))]
    narratives = Narratives(ids, splits or ["train"] * len(lengths), [""] * len(lengths), sentences, starts)
    return narratives if vectors is None else narratives.with_vectors(vectors, np.zeros(len(sentences), dtype=bool))


def random_sentences(number, words, vocabulary, seed):
    """Sample sentences of `words` words (a number, or one per sentence) from `vocabulary` made-up words."""
    rng = np.random.default_rng(seed)
    sizes = np.broadcast_to(words, (number,))
    return [" ".join(f"{letters(w)}" for w in rng.integers(vocabulary, size=size)) for size in sizes]


def letters(number):
    """Return a number as a word without digits, as the critics' words have none."""
    return "".join("bcdfghjklm"[int(digit)] + "a" for digit in str(int(number)))
