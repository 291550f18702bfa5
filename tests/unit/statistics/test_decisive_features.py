"""Decisive features: known truth, exact sums, and classifiers that never saw what they do without."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from macroscope.statistics.decisive_features import (
    LEAST,
    MOST,
    WITHOUT,
    find_decisive_features,
    list_features,
    select_largest,
)
from macroscope.statistics.document_classifier import classify, label_documents
from macroscope.statistics.document_features import JOINT, DocumentFeatures
from macroscope.statistics.document_groups import group_labels


def sample(numbers, prefix, bags=(), names=None):
    keys = pd.DataFrame({"id": [f"{prefix}{i}" for i in range(len(numbers))]})
    names = tuple(f"number {i}" for i in range(numbers.shape[1])) if names is None else names
    return DocumentFeatures(keys, numbers, bags, names)


def decide(first, second, seed=0):
    """Return feature -> share, and the estimate without these."""
    rows = find_decisive_features(first, second, 0.95, seed)
    return {name: each.value for name, each in rows[:-1]}, rows[-1][1]


def label(first, second):
    return label_documents(first, second, group_labels(first.keys, second.keys))


def texts_of(rng, n, extra=()):
    """Return words of Zipfian texts, and their pairs; `extra` words stand at the end."""
    shares = 1 / np.arange(1, 31)
    words = [[*(f"w{i}" for i in rng.choice(30, 25, p=shares / shares.sum())), *extra] for _ in range(n)]
    return words, [[JOINT.join(pair) for pair in pairwise(each)] for each in words]


def test_one_number_that_differs_is_named_and_nothing_remains_without_it():
    rng = np.random.default_rng(1)
    shares, without = decide(
        sample(rng.normal(size=(150, 8)), "a"), sample(rng.normal([3, *[0] * 7], 1, (150, 8)), "b")
    )
    assert list(shares) == ["number 0"]
    assert shares["number 0"] == pytest.approx(1, abs=0.1)
    assert (without.statistic, without.value) == (WITHOUT, pytest.approx(0.5, abs=0.08))
    assert without.ci_low < 0.5 < without.ci_high
    assert np.isnan(without.p_value)


@pytest.mark.slow
def test_of_a_difference_that_is_spread_over_30_numbers_most_remains():
    rng = np.random.default_rng(2)
    shift = 0.4
    first, second = sample(rng.normal(size=(400, 30)), "a"), sample(rng.normal(shift, 1, (400, 30)), "b")
    shares, without = decide(first, second)
    assert len(shares) == MOST
    assert max(shares.values()) < 0.15
    # The best classifier of the 27 others: a normal sum whose mean differs by shift * sqrt(27) of its deviations.
    assert norm.cdf(shift * np.sqrt(27 / 2)) - 0.06 < without.value < norm.cdf(shift * np.sqrt(27 / 2)) + 0.02


@pytest.mark.slow
def test_a_word_is_left_out_with_its_pairs():
    rng = np.random.default_rng(3)
    first, second = (
        sample(np.zeros((80, 0)), name, texts_of(rng, 80, extra)) for name, extra in (("a", ()), ("b", ["</s>"]))
    )
    shares, without = decide(first, second)
    assert next(iter(shares)) == "“</s>”"
    assert shares["“</s>”"] > 0.8
    assert without.ci_low < 0.5 < without.ci_high
    documents = label(first, second)
    names, parts = list_features(documents, ())
    for words, each in zip(documents.words, parts, strict=True):
        of_the_word = each[:, [names.index("“</s>”")]].toarray().ravel()
        np.testing.assert_allclose(
            of_the_word, [word.split(JOINT).count("</s>") / (1 + (JOINT in word)) for word in words]
        )
        np.testing.assert_allclose(each.sum(axis=1), 1)


def test_contributions_add_up_to_the_difference_of_mean_log_odds():
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=(40, 2))
    numbers[:5, 1] = np.nan
    documents = label(
        sample(numbers, "a", texts_of(rng, 40)), sample(rng.normal(1, 1, (30, 2)), "b", texts_of(rng, 30))
    )
    outside = np.arange(70) % 3 > 0
    result = classify(documents, outside, ~outside, rng)
    of_candidate = documents.labels[~outside] == 1
    expected = result.log_odds[of_candidate].mean() - result.log_odds[~of_candidate].mean()
    contributions = result.contributions(documents, ~outside)
    assert [len(each) for each in contributions] == [2, *map(len, documents.words)]
    assert sum(each.sum() for each in contributions) == pytest.approx(expected)
    of_training = result.contributions(documents, outside)
    assert of_training[0] == pytest.approx(
        result.numbers[outside & (documents.labels == 1)].mean(axis=0)
        - result.numbers[outside & (documents.labels == 0)].mean(axis=0)
    )
    for each, judged in zip(of_training[1:], contributions[1:], strict=True):
        assert not np.allclose(each, judged)  # by terms of other folds


def test_a_classifier_without_features_is_that_of_documents_without_them():
    rng = np.random.default_rng(5)
    numbers, bags = rng.normal(size=(60, 3)), texts_of(rng, 60, ["</s>"])[:1]
    stripped = ([[word for word in words if word != "</s>"] for words in bags[0]],)
    whole = label(sample(numbers[:30], "a", ([*bags[0][:30]],)), sample(numbers[30:], "b", ([*bags[0][30:]],)))
    part = label(
        sample(numbers[:30, 1:], "a", ([*stripped[0][:30]],)), sample(numbers[30:, 1:], "b", ([*stripped[0][30:]],))
    )
    outside = np.arange(60) % 2 > 0
    shortened = whole.without(np.array([True, False, False]), [np.array([word == "</s>" for word in whole.words[0]])])
    without, never = (classify(each, outside, ~outside, np.random.default_rng(6)) for each in (shortened, part))
    np.testing.assert_allclose(without.log_odds, never.log_odds)


def test_features_without_names_and_a_single_one_are_not_named():
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=(40, 3)), rng.normal(2, 1, (40, 3))
    assert find_decisive_features(sample(first, "a", names=()), sample(second, "b", names=()), 0.95, 0) == []
    assert find_decisive_features(sample(first[:, :1], "a"), sample(second[:, :1], "b"), 0.95, 0) == []
    shares, _ = decide(sample(first[:, :2], "a"), sample(second[:, :2], "b"))
    assert len(shares) == 1  # the other one is what remains


def test_features_that_decide_much_less_than_the_first_are_not_named():
    assert select_largest(np.array([1, 10, 10 * LEAST, 5.0]), "abcd") == [1, 3]
    assert select_largest(np.array([-1.0, -2, 0, -3]), "abcd") == []
