"""N-grams that documents share: brute force over all pairs, planted copies, orders, pairs."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from macroscope.document_keys import number_sample
from macroscope.statistics.document_features import DocumentFeatures, join_features
from macroscope.statistics.joint_test import Divisions, estimate_largest_difference, largest_mean_difference
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.shared_ngrams import (
    compare_by_shared_ngrams,
    compare_signed,
    estimate_shared_ngrams,
    find_ngrams,
)

STATISTICS = [largest_mean_difference, compare_by_shared_ngrams]


def sample_texts(rng, number, words=6, longest=15):
    """Sample texts of a few words, some too short for an n-gram."""
    return [[f"w{code}" for code in rng.integers(0, words, rng.integers(0, longest))] for _ in range(number)]


def brute_force(texts, groups, inside, length):
    """Compute the statistic from all pairs of documents, as the module's formula has it."""
    sets = [{tuple(text[i : i + length]) for i in range(len(text) - length + 1)} for text in texts]
    units = [group or -1 - number for number, group in enumerate(groups)]
    held = {(ngram, unit) for ngrams, unit in zip(sets, units, strict=True) for ngram in ngrams}
    holders = Counter(ngram for ngram, _ in held)

    def share(i, j):
        common = [ngram for ngram in sets[i] & sets[j] if holders[ngram] > 1]
        size = np.sqrt(len(sets[i]) * len(sets[j]))
        return sum(1 / (holders[ngram] - 1) for ngram in common) / size if common else 0.0

    values = []
    for row in inside:
        sides = [np.flatnonzero(row == label) for label in (1, 0)]
        means = [np.mean([share(i, j) for i in members for j in members if i != j]) for members in sides]
        values.append((means[1] - means[0]) * (min(map(len, sides)) - 1))
    return values


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("paired", [0, 2])
def test_sums_of_vectors_are_sums_over_all_pairs(length, paired):
    rng = np.random.default_rng([length, paired])
    texts = sample_texts(rng, 11)
    n = 6
    texts[n] = texts[0]  # a pair of equal texts, and a copy beside it
    texts[3] = texts[0]
    groups = np.zeros(11, dtype=np.int64)
    groups[:paired] = groups[n : n + paired] = np.arange(1, paired + 1)
    permutation = Permutation((n, 5), groups if paired else None)
    inside = np.concatenate([np.repeat([[1.0, 0.0]], (n, 5), axis=1), *permutation.memberships(9, rng)])
    values = compare_signed(find_ngrams(texts, length))(Divisions(np.arange(11), groups, inside))
    assert values == pytest.approx(brute_force(texts, groups, inside, length), abs=1e-12)


def test_documents_of_a_pool_may_be_chosen_in_any_order():
    rng = np.random.default_rng(3)
    texts = sample_texts(rng, 20)
    documents = rng.permutation(20)[:11]
    chosen = [texts[number] for number in documents]
    groups = np.zeros(11, dtype=np.int64)
    inside = np.repeat([[1.0, 0.0]], (6, 5), axis=1)
    value = compare_signed(find_ngrams(texts, 2))(Divisions(documents, groups, inside))
    assert value == pytest.approx(brute_force(chosen, groups, inside, 2))
    order = rng.permutation(11)
    again = compare_signed(find_ngrams(texts, 2))(Divisions(documents[order], groups, inside[:, order]))
    assert again == pytest.approx(value)


def test_two_copies_share_all_of_their_ngrams_and_strangers_none():
    texts = [list(f"a{n}b{n}c{n}d{n}e{n}") for n in range(4)]
    inside = np.array([[1.0, 1.0, 0.0, 0.0]])
    compare = compare_signed(find_ngrams([texts[0], texts[1], texts[2], texts[2]]))
    assert compare(Divisions(np.arange(4), np.zeros(4, dtype=np.int64), inside)) == pytest.approx(1)
    strangers = compare_signed(find_ngrams(texts))
    assert strangers(Divisions(np.arange(4), np.zeros(4, dtype=np.int64), inside)) == 0
    nothing = compare_signed(find_ngrams([[], ["a"], [], []]))
    assert nothing(Divisions(np.arange(4), np.zeros(4, dtype=np.int64), inside)) == 0


def sample_features(rng, number, first, words=2000):
    """Sample documents of 30 words each."""
    texts = [[f"w{code}" for code in rng.integers(0, words, 30)] for _ in range(number)]
    keys = pd.DataFrame({"id": [f"d{first + n}" for n in range(number)]})
    return DocumentFeatures(keys, np.full((number, 1), 30.0), (texts,))


def copy_some(features, share):
    """Replace the last documents by copies of the first ones."""
    number = int(share * len(features))
    texts = [*features.bags[0][: len(features) - number], *features.bags[0][:number]]
    return DocumentFeatures(features.keys, features.numbers, (texts,))


def test_planted_copies_are_found_in_either_sample_and_copies_of_the_other_sample_are_not_repetition():
    rng = np.random.default_rng(5)
    first, second = sample_features(rng, 40, 0), sample_features(rng, 30, 40)
    copied = copy_some(second, 0.2)
    permutation = Permutation((40, 30))
    estimate = estimate_shared_ngrams((first.bags[0], copied.bags[0]), permutation, 999, 1)
    assert estimate.value == pytest.approx(12 / 30, abs=0.01)  # 12 of 30 documents have a twin
    assert estimate.p_value < 0.02
    turned = estimate_shared_ngrams((copied.bags[0], first.bags[0]), Permutation((30, 40)), 999, 1)
    assert turned.value == pytest.approx(-estimate.value)
    assert turned.p_value < 0.02
    crossed = estimate_shared_ngrams((first.bags[0], first.bags[0][:30]), permutation, 999, 1)
    assert crossed.p_value > 0.05
    assert estimate_largest_difference(STATISTICS, first, copied, 1).p_value < 0.05
    assert estimate_largest_difference(STATISTICS, first, second, 1).p_value > 0.05


def test_copies_are_found_among_pairs():
    rng = np.random.default_rng(6)
    real = sample_features(rng, 40, 0)
    copied = copy_some(real, 0.3)
    assert estimate_largest_difference(STATISTICS, real, copied, 1).p_value < 0.02
    assert estimate_largest_difference(STATISTICS, real, real, 1).p_value == 1


def test_texts_of_one_prompt_are_no_copies_of_each_other():
    """Further texts of a prompt, which may be alike, are not compared with the first one."""
    rng = np.random.default_rng(7)
    real, mine = sample_features(rng, 30, 0), sample_features(rng, 20, 30)
    ids = [number_sample(identifier, 2) for identifier in mine.keys["id"]]
    again = DocumentFeatures(pd.DataFrame({"id": ids}), mine.numbers, mine.bags)
    several = join_features(mine, again)
    once, twice = (estimate_largest_difference(STATISTICS, real, each, 1) for each in (mine, several))
    assert once == twice
