"""Lengths of texts at matched length."""

import numpy as np
import pytest

from macroscope.statistics.length_matching import match_lengths


def matched(first, second, paired=False, seed=1):
    """Match two samples of single texts, or of pairs."""
    numbers = np.arange(len(first)), np.arange(len(second)) + (0 if paired else len(first))
    return match_lengths(np.asarray(first), np.asarray(second), numbers, seed)


@pytest.mark.parametrize(("n", "m"), [(7, 100), (100, 7), (1, 5), (400, 399)])
def test_no_text_is_extended_and_the_distributions_agree(n, m):
    rng = np.random.default_rng(n)
    first, second = rng.integers(1, 300, n), rng.integers(50, 200, m)
    targets = matched(first, second)
    assert (targets[0] <= first).all()
    assert (targets[1] <= second).all()
    shares = np.linspace(0.2, 0.8, 5)
    expected = np.minimum(300 * shares, 50 + 150 * shares)
    if min(n, m) > 100:
        assert np.allclose([np.quantile(each, shares) for each in targets], expected, atol=25)


def test_the_longer_sample_alone_is_cut():
    rng = np.random.default_rng(3)
    short, long = rng.integers(50, 100, 200), rng.integers(200, 400, 200)
    cut_short, cut_long = matched(short, long)
    assert (cut_short == short).all()
    assert cut_long.mean() == pytest.approx(short.mean(), rel=0.05)


def test_lengths_agree_no_better_than_by_chance():
    """Exact agreement would make classifiers wrong about the texts that they did not learn from."""
    rng, differences = np.random.default_rng(4), []
    for seed in range(300):
        long, short = rng.gamma(4, 100, 50).astype(int), rng.gamma(4, 50, 50).astype(int)
        targets = matched(long, short, seed=seed)
        differences.append(targets[0].mean() - targets[1].mean())
    by_chance = 100 * np.sqrt(2 / 50)  # the standard deviation of the short sample is 100
    assert np.mean(differences) == pytest.approx(0, abs=4)
    assert 0.8 * by_chance < np.std(differences) < 1.3 * by_chance


def test_pairs_of_equal_lengths_are_not_cut():
    lengths = np.random.default_rng(5).integers(3, 60, 80)
    assert all((targets == lengths).all() for targets in matched(lengths, lengths, paired=True))


def test_texts_of_one_length_are_cut_to_different_ones():
    targets, _ = matched(np.full(200, 100), np.linspace(10, 90, 200).astype(int))
    assert np.quantile(targets, [0.25, 0.75]) == pytest.approx([30, 70], abs=12)


def test_ranks_of_lengths_stay():
    rng = np.random.default_rng(1)
    long, short = rng.permutation(700)[:80] + 200, rng.integers(50, 400, 90)
    targets, _ = matched(long, short)
    assert (np.diff(targets[np.argsort(long)]) >= 0).all()


def test_an_empty_sample_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        matched([], [4])
