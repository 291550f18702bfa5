"""Counts of n-grams, against a count by hand, and in slices of any size."""

from collections import Counter

import numpy as np
import pytest

from macroscope.systems.ngram.counts import Trie, count_ngrams

WORDS, ORDER = 12, 4


def some_texts(seed: int, texts: int = 60) -> list[np.ndarray]:
    """Texts of words 2 to 11, some empty, each with its end; the beginning is 0, the end 1."""
    rng = np.random.default_rng(seed)
    return [np.array([*rng.integers(2, WORDS, rng.integers(0, 9)), 1]) for _ in range(texts)]


def spelt(trie: Trie, order: int) -> list[tuple[int, ...]]:
    """Words of every n-gram of an order, from the keys alone."""
    keys = trie.levels[order - 1].keys
    if order == 1:
        return [(int(key),) for key in keys]
    below = spelt(trie, order - 1)
    return [(*below[key // trie.words], int(key % trie.words)) for key in keys]


def by_hand(texts: list[np.ndarray], order: int) -> Counter[tuple[int, ...]]:
    begun = [(0, *map(int, text)) for text in texts]
    return Counter(text[i : i + order] for text in begun for i in range(len(text) - order + 1))


@pytest.mark.parametrize("at_once", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_by_hand(seed, at_once):
    texts = some_texts(seed)
    trie = count_ngrams(texts, ORDER, WORDS, 0, at_once)
    for order in range(1, ORDER + 1):
        level, names = trie.levels[order - 1], spelt(trie, order)
        assert dict(zip(names, level.counts.tolist(), strict=True)) == by_hand(texts, order)
        assert level.from_beginning.tolist() == [name[0] == 0 for name in names]
        if order > 1:
            shorter = spelt(trie, order - 1)
            assert [shorter[number] for number in level.suffixes] == [name[1:] for name in names]


@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_the_size_of_a_slice_changes_no_byte(at_once):
    texts = some_texts(9)
    whole, sliced = count_ngrams(texts, ORDER, WORDS, 0), count_ngrams(texts, ORDER, WORDS, 0, at_once)
    for one, other in zip(whole.levels, sliced.levels, strict=True):
        for name in ("keys", "counts", "suffixes", "from_beginning"):
            first, second = getattr(one, name), getattr(other, name)
            assert (first.dtype, first.tobytes()) == (second.dtype, second.tobytes()), name


@pytest.mark.parametrize("at_once", [1, 10_000])
def test_no_longer_n_grams_than_the_longest_text(at_once):
    texts = [np.array([2, 1]), np.array([1])]
    assert count_ngrams(texts, 7, WORDS, 0, at_once).order == 3
