"""Counts of n-grams, against a count by hand, in blocks of any size."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from macroscope.systems.ngram import counts
from macroscope.systems.ngram.counts import Trie, count_ngrams, read_trie, read_words, write_words

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


@pytest.fixture(params=[1, 7, 64, counts.BLOCK])
def block(request, monkeypatch):
    """Blocks of some size, on which no count depends."""
    monkeypatch.setattr(counts, "BLOCK", request.param)
    return request.param


def counted(texts, order, folder):
    with (folder / "stream").open("wb") as stream:
        write_words(texts, 0, stream)
    return count_ngrams(read_words(folder / "stream"), order, WORDS, 0, folder / "counts")


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_by_hand(seed, tmp_path):
    texts = some_texts(seed)
    trie = counted(texts, ORDER, tmp_path)
    for order in range(1, ORDER + 1):
        level, names = trie.levels[order - 1], spelt(trie, order)
        assert dict(zip(names, level.counts.tolist(), strict=True)) == by_hand(texts, order)
        assert level.from_beginning.tolist() == [name[0] == 0 for name in names]
        if order > 1:
            shorter = spelt(trie, order - 1)
            assert [shorter[number] for number in level.suffixes] == [name[1:] for name in names]


@pytest.mark.usefixtures("block")
def test_blocks_part_no_continuations_of_a_context(tmp_path):
    trie = counted(some_texts(5), ORDER, tmp_path)
    for order in range(1, ORDER + 1):
        contexts = trie.levels[order - 1].keys // WORDS
        blocks = [contexts[some] for some in trie.blocks(order)]
        assert np.array_equal(np.concatenate(blocks), contexts)
        assert all(one[-1] < other[0] for one, other in pairwise(blocks))


def test_no_longer_n_grams_than_the_longest_text(tmp_path):
    assert counted([np.array([2, 1]), np.array([1])], 7, tmp_path).order == 3
    assert read_trie(tmp_path / "counts", WORDS, 0).order == 3


def test_a_killed_count_goes_on_after_the_orders_that_are_done(tmp_path, monkeypatch):
    texts = some_texts(3)
    whole = [level.keys.tobytes() + level.counts.tobytes() for level in counted(texts, ORDER, tmp_path).levels]
    (tmp_path / "counts" / "4-keys").unlink()
    (tmp_path / "counts" / "4-keys.part").write_bytes(b"half of it")
    (tmp_path / "counts" / "4-counts").write_bytes(b"half of it as well")
    asked = []
    of_order = counts._counted
    monkeypatch.setattr(counts, "_counted", lambda places, n, *more: asked.append(n) or of_order(places, n, *more))
    again = counted(texts, ORDER, tmp_path)
    assert asked == [4]
    assert [level.keys.tobytes() + level.counts.tobytes() for level in again.levels] == whole
