"""Counts of n-grams against a count by hand, with blocks of any size."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from macroscope.systems.ngram import counts
from macroscope.systems.ngram.counts import Trie, count_ngrams, read_trie, read_words, write_words

WORDS, ORDER = 12, 4


def random_texts(seed: int, texts: int = 60) -> list[np.ndarray]:
    """Return random texts of words 2 to 11, some of them empty, each with its end; the beginning is 0, the end 1."""
    rng = np.random.default_rng(seed)
    return [np.array([*rng.integers(2, WORDS, rng.integers(0, 9)), 1]) for _ in range(texts)]


def spell_ngrams(trie: Trie, order: int) -> list[tuple[int, ...]]:
    """Return the words of every n-gram of an order, from the keys alone."""
    keys = trie.levels[order - 1].keys
    if order == 1:
        return [(int(key),) for key in keys]
    below = spell_ngrams(trie, order - 1)
    return [(*below[key // trie.words], int(key % trie.words)) for key in keys]


def count_by_hand(texts: list[np.ndarray], order: int) -> Counter[tuple[int, ...]]:
    begun = [(0, *map(int, text)) for text in texts]
    return Counter(text[i : i + order] for text in begun for i in range(len(text) - order + 1))


@pytest.fixture(params=[1, 7, 64, counts.BLOCK])
def block(request, monkeypatch):
    """Size of the blocks, on which no count may depend."""
    monkeypatch.setattr(counts, "BLOCK", request.param)
    return request.param


def count(texts, order, folder):
    with (folder / "stream").open("wb") as stream:
        write_words(texts, 0, stream)
    return count_ngrams(read_words(folder / "stream"), order, WORDS, 0, folder / "counts")


@pytest.mark.slow
@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_by_hand(seed, tmp_path):
    texts = random_texts(seed)
    trie = count(texts, ORDER, tmp_path)
    for order in range(1, ORDER + 1):
        level, names = trie.levels[order - 1], spell_ngrams(trie, order)
        assert dict(zip(names, level.counts.tolist(), strict=True)) == count_by_hand(texts, order)
        assert level.from_beginning.tolist() == [name[0] == 0 for name in names]
        if order > 1:
            shorter = spell_ngrams(trie, order - 1)
            assert [shorter[number] for number in level.suffixes] == [name[1:] for name in names]


@pytest.mark.usefixtures("block")
def test_blocks_keep_the_continuations_of_a_context_together(tmp_path):
    trie = count(random_texts(5), ORDER, tmp_path)
    for order in range(1, ORDER + 1):
        contexts = trie.levels[order - 1].keys // WORDS
        blocks = [contexts[block] for block in trie.blocks(order)]
        assert np.array_equal(np.concatenate(blocks), contexts)
        assert all(first[-1] < second[0] for first, second in pairwise(blocks))


def test_no_longer_n_grams_than_the_longest_text(tmp_path):
    assert count([np.array([2, 1]), np.array([1])], 7, tmp_path).order == 3
    assert read_trie(tmp_path / "counts", WORDS, 0).order == 3


def test_a_killed_count_resumes_after_the_finished_orders(tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "BLOCK", 16)
    texts = random_texts(3)
    whole = [level.keys.tobytes() + level.counts.tobytes() for level in count(texts, ORDER, tmp_path).levels]
    (tmp_path / "counts" / "4-keys").unlink()
    (tmp_path / "counts" / "4-keys.part").write_bytes(b"half of it")
    (tmp_path / "counts" / "4-counts").write_bytes(b"half of it as well")
    orders = []
    count_order = counts._count_order
    monkeypatch.setattr(
        counts, "_count_order", lambda stream, n, *more: orders.append(n) or count_order(stream, n, *more)
    )
    again = count(texts, ORDER, tmp_path)
    assert orders == [4]
    assert [level.keys.tobytes() + level.counts.tobytes() for level in again.levels] == whole
