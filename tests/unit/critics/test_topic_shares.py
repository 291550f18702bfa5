"""Shares of topics in two collections."""

import numpy as np
import pandas as pd

from macroscope.critics.topic_shares import TopicShares, sample_mask, share_differences, share_divergences
from macroscope.options import Resampling

RESAMPLING = Resampling(resamples=200, permutations=199)


def _topic_shares(shape, n, seed, start=0):
    ids = [f"d{start + k}" for k in range(n)]
    shares = np.random.default_rng(seed).dirichlet(shape, n)
    return TopicShares(pd.DataFrame({"id": ids, "opening": [""] * n}), shares)


def test_differences_are_those_of_the_means_and_the_largest_is_first():
    reference, candidate = _topic_shares([4, 1, 1], 60, 0), _topic_shares([1, 1, 4], 80, 1, start=100)
    table = share_differences(reference, candidate, ["a", "b", "c"], RESAMPLING)
    means = candidate.shares.mean(axis=0) - reference.shares.mean(axis=0)
    assert np.allclose(table.set_index("topic")["difference"].sort_index(), means)
    assert set(table["topic"][:2]) == {0, 2}
    assert np.abs(table["difference"]).is_monotonic_decreasing
    assert (table["ci_low"] <= table["difference"]).all()
    assert (table["difference"] <= table["ci_high"]).all()
    assert (table.set_index("words").loc[["a", "c"], "p_adjusted"] < 0.02).all()
    assert table.set_index("words").loc["b", "p_adjusted"] > 0.05


def test_divergences_weight_documents_equally():
    reference, candidate = _topic_shares([4, 1, 1], 60, 0), _topic_shares([1, 1, 4], 80, 1, start=100)
    table = share_divergences(reference, candidate, 199, RESAMPLING).set_index("statistic")
    p, q = ((texts.shares.sum(axis=0) + 1) / (len(texts.shares) + 3) for texts in (reference, candidate))
    assert np.isclose(table.loc["forward_kl", "value"], (p * np.log(p / q)).sum())
    assert table.loc["forward_kl", "p_value"] == 0.005
    assert (table[["n_reference", "n_candidate"]] == [60, 80]).all(axis=None)


def test_paired_documents_are_swapped_within_pairs():
    reference = _topic_shares([1, 1], 3, 0)
    candidate = TopicShares(reference.keys, _topic_shares([1, 5], 3, 1).shares)
    table = share_differences(reference, candidate, ["a", "b"], RESAMPLING)
    assert (table["p_value"] >= 2 / 8).all()  # three pairs, two-sided test


def test_sample_mask_has_at_most_the_given_number():
    rng = np.random.default_rng(0)
    assert sample_mask(5, 9, rng).all()
    assert sample_mask(100, 9, rng).sum() == 9
