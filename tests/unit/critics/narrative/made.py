"""Narratives made of nothing, for the tests of the narrative critic."""

import numpy as np

from macroscope.critics.narrative.narratives import Narratives


def told(lengths, *, splits=None, vectors=None, write=None, name="n"):
    """Narratives of so many sentences each; `write` gives the sentence of a number, without it "s<number>."."""
    starts = np.cumsum([0, *lengths])
    sentences = [write(number) if write else f"s{number}." for number in range(starts[-1])]
    ids = [f"{name}{number}" for number in range(len(lengths))]
    found = Narratives(ids, splits or ["train"] * len(lengths), [""] * len(lengths), sentences, starts)
    return found if vectors is None else found.with_vectors(vectors, np.zeros(len(sentences), dtype=bool))


def random_sentences(number, words, vocabulary, seed):
    """Sentences of `words` words each, drawn from `vocabulary` made-up ones; `words` may be one number a sentence."""
    rng = np.random.default_rng(seed)
    sizes = np.broadcast_to(words, (number,))
    return [" ".join(f"{letters(w)}" for w in rng.integers(vocabulary, size=size)) for size in sizes]


def letters(number):
    """A number as a word: words of the critics have no digits."""
    return "".join("bcdfghjklm"[int(digit)] + "a" for digit in str(int(number)))
