"""Correlations against enumeration, scipy, published values and simulation."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from macroscope.options import Resampling
from macroscope.statistics import correlation
from macroscope.statistics.correlation import COEFFICIENTS, correlate, correlation_interval, critical_spearman
from macroscope.statistics.judgements import read_judgements

RESAMPLING = Resampling(permutations=4999)
SCIPY = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}
MAUVE = {
    "gpt2-xl-nucleus": 0.9396265825822094,
    "gpt2-large-nucleus": 0.9358839080944416,
    "gpt2-xl-ancestral": 0.8815674949514485,
    "gpt2-medium-nucleus": 0.9146017900202308,
    "gpt2-large-ancestral": 0.8449972299530251,
    "gpt2-small-nucleus": 0.8775254868960343,
    "gpt2-small-ancestral": 0.5890426203352459,
    "gpt2-medium-ancestral": 0.3727859526320347,
}
"""MAUVE of the eight systems as Pillutla et al. (2021) published it."""
DENG2022 = {
    "latent_ppl": [7.92, 4.17, 3.76, 2.68, 2.58],
    "mauve": [0.75, 0.85, 0.91, 0.90, 0.96],
    "ppl": [11.09, 10.96, 11.50, 11.38],
}
"""Table 4 of deng2022, in the order of `DENG2022_SYSTEMS`; PPL has no value for real text."""
DENG2022_SYSTEMS = ["gpt-neo-no-titles", "gpt-neo-titles", "gpt2-no-titles", "gpt2-titles", "human"]


def correlate_one(x, y, coefficient):
    """Return value, low, high and p of one statistic without seeds."""
    correlations = correlate(np.asarray(x, dtype=float)[None, None], y, coefficient, RESAMPLING)
    return correlations.value[0], correlations.low[0], correlations.high[0], correlations.p_value[0]


@pytest.mark.parametrize(
    ("question", "spearman", "t_approximation", "pearson"),
    [
        ("human-like", 0.9523809524, 2.6040e-4, 0.8397),
        ("sensible", 0.8571428571, 0.0065300, 0.8073),
        ("interesting", 0.8095238095, 0.0149027, 0.8377),
    ],
)
def test_published_mauve_against_people(question, spearman, t_approximation, pearson):
    scores = read_judgements("mauve").scores[question]
    x, y = list(MAUVE.values()), [scores[system] for system in MAUVE]
    rho, _, _, p = correlate_one(x, y, "spearman")
    assert rho == pytest.approx(spearman, abs=1e-10)
    assert correlate_one(x, y, "pearson")[0] == pytest.approx(pearson, abs=5e-5)
    assert stats.spearmanr(x, y).pvalue == pytest.approx(t_approximation, rel=1e-3)  # not exact for eight systems
    squares = [((np.arange(8) - np.array(order)) ** 2).sum() for order in itertools.permutations(range(8))]
    sizes = np.abs(1 - 6 * np.array(squares) / (8 * 63))
    assert p == pytest.approx((sizes >= spearman - 1e-8).mean(), abs=1e-12)
    assert p > t_approximation


@pytest.mark.parametrize(
    ("statistic", "systems", "spearman", "pearson"),
    [
        ("latent_ppl", 4, -1.0, -0.9334),
        ("mauve", 4, 0.8, 0.8649),
        ("ppl", 4, 0.6, 0.5841),
        ("latent_ppl", 5, -0.9, -0.9426),
        ("mauve", 5, 0.7, 0.9021),
    ],
)
def test_table_4_of_deng2022(statistic, systems, spearman, pearson):
    scores = read_judgements("deng2022").scores["coherent"]
    x, y = DENG2022[statistic][:systems], [scores[system] for system in DENG2022_SYSTEMS[:systems]]
    assert correlate_one(x, y, "spearman")[0] == pytest.approx(spearman)
    assert correlate_one(x, y, "pearson")[0] == pytest.approx(pearson, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("n", [3, 4, 6, 7])
def test_exact_p_by_enumeration_with_ties(coefficient, n):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 4, n).astype(float), rng.integers(0, 5, n).astype(float)
    x[0], y[0] = 9, 9  # not all equal
    correlation = SCIPY[coefficient]
    observed = abs(correlation(x, y).statistic)
    sizes = [abs(correlation(x, order).statistic) for order in itertools.permutations(y)]
    value, _, _, p = correlate_one(x, y, coefficient)
    assert value == pytest.approx(correlation(x, y).statistic)
    assert p == pytest.approx(np.mean(np.array(sizes) >= observed - 1e-9), abs=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_beyond_enumeration_p_is_monte_carlo_and_near_theory(coefficient):
    rng = np.random.default_rng(5)
    y = rng.normal(size=40)
    x = 0.3 * y + rng.normal(size=40)
    value, _, _, p = correlate_one(x, y, coefficient)
    theory = SCIPY[coefficient](x, y)
    assert value == pytest.approx(theory.statistic)
    assert p == pytest.approx(theory.pvalue, abs=0.02)
    assert (p * 5000) == pytest.approx(round(p * 5000))  # (c + 1) / (n + 1)
    assert correlate_one(y, y, coefficient)[3] == 1 / 5000
    assert correlate_one(x, y, coefficient)[3] == p


@pytest.mark.slow
@pytest.mark.parametrize(("n", "coefficient"), [(8, "spearman"), (8, "pearson"), (15, "spearman")])
def test_p_values_keep_their_level(n, coefficient):
    rng = np.random.default_rng(6)
    x, y = rng.lognormal(size=(4000, 1, n)), rng.normal(size=n)
    p = correlate(x, y, coefficient, Resampling(permutations=999)).p_value
    for level in (0.01, 0.05, 0.2, 0.5):
        share = (p <= level).mean()
        assert share <= level + 4 * np.sqrt(level / 4000)
        # Ranks of eight systems have few distinct correlations: the test may be slightly conservative.
        assert share >= 0.85 * level - 3 * np.sqrt(level / 4000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5, 8, 12, 30])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_intervals_cover_at_their_level(n, rho):
    """Data are bivariate normal; the true Spearman correlation is 6 / pi arcsin(rho / 2)."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(6000, n))
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(6000, n))
    for coefficient, truth in (("pearson", rho), ("spearman", 6 / np.pi * np.arcsin(rho / 2))):
        if coefficient == "spearman":
            x, y = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
        values = np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)])
        low, high = correlation_interval(values, n, coefficient)
        assert ((low <= truth) & (truth <= high)).mean() >= 0.93
        if n >= 8:
            assert ((low <= truth) & (truth <= high)).mean() <= 0.98


def test_the_interval_of_a_perfect_rank_correlation_is_not_a_point():
    x = np.arange(8.0)
    value, low, high, p = correlate_one(x, -x, "spearman")
    assert (value, low) == (-1, -1)
    assert -0.95 < high < -0.85
    assert p == 2 / 40320
    assert correlate_one(x, x, "pearson")[:3] == pytest.approx((1, 1, 1))


def test_three_systems_have_no_interval_and_two_no_value():
    value, low, high, p = correlate_one([1, 2, 3], [1, 2, 3], "spearman")
    assert value == 1
    assert np.isnan([low, high]).all()
    assert p == pytest.approx(2 / 6)
    correlations = correlate(np.ones((1, 1, 2)), [1, 2], "spearman", RESAMPLING)
    assert np.isnan(correlations.value[0])
    assert correlations.reason == ["fewer than 3 systems"]


def test_memory_does_not_grow_with_the_number_of_units(monkeypatch):
    """Thousands of texts, not only systems, are correlated by their log-probabilities."""
    x = np.random.default_rng(7).normal(size=(2, 1000))
    resampling = Resampling(permutations=2000)
    expected = correlate(x[:1, None], x[1], "spearman", resampling).p_value
    monkeypatch.setattr(correlation, "_AT_ONCE", 1 << 14)
    tracemalloc.start()
    p_value = correlate(x[:1, None], x[1], "spearman", resampling).p_value
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert p_value == expected
    assert peak < 2e6


def test_reasons():
    values = np.array([[[1, 1, 1, 1]], [[1, 2, 3, np.inf]], [[4, 3, 2, 1]]], dtype=float)
    pearson = correlate(values, [1, 2, 3, 4], "pearson", RESAMPLING)
    assert pearson.reason == ["all systems have the same value", "infinite for a system", ""]
    assert np.isnan(pearson.p_value[:2]).all()
    spearman = correlate(values, [1, 2, 3, 4], "spearman", RESAMPLING)
    assert spearman.value[1:] == pytest.approx([1, -1])
    same = correlate(values, [2, 2, 2, 2], "spearman", RESAMPLING)
    assert same.reason == ["all systems have the same score"] * 3
    assert np.isnan([*same.value, *same.low, *same.high]).all()
    with pytest.raises(ValueError, match="statistics x groups x 3 systems"):
        correlate(values, [1, 2, 3], "spearman", RESAMPLING)


def test_scale_and_shift_do_not_matter():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=8), rng.normal(size=8)
    for coefficient in COEFFICIENTS:
        for scaled in (1e-200 * x, 1e200 * x, 1e6 + x):
            assert correlate_one(scaled, y, coefficient) == pytest.approx(correlate_one(x, y, coefficient), rel=1e-6)


def test_groups_of_seeds_are_permuted_together():
    rng = np.random.default_rng(9)
    y = rng.normal(size=5)
    x = y + rng.normal(size=(3, 5))
    correlations = correlate(x[None], y, "spearman", RESAMPLING)
    of_groups = np.array([stats.spearmanr(values, y).statistic for values in x])
    assert correlations.value[0] == pytest.approx(of_groups.mean())
    assert correlations.seed_sd[0] == pytest.approx(of_groups.std(ddof=1))
    means = [np.mean([stats.spearmanr(values, order).statistic for values in x]) for order in itertools.permutations(y)]
    assert correlations.p_value[0] == pytest.approx(np.mean(np.abs(means) >= abs(of_groups.mean()) - 1e-9))
    low, high = correlation_interval(of_groups.mean(), 5, "spearman")
    assert [correlations.low[0], correlations.high[0]] == pytest.approx([float(low), float(high)])


def test_copies_of_one_seed_count_once():
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=6), rng.normal(size=6)
    several = correlate(np.broadcast_to(x, (1, 5, 6)), y, "pearson", RESAMPLING)
    alone = correlate(x[None, None], y, "pearson", RESAMPLING)
    assert several.p_value == pytest.approx(alone.p_value)
    assert several.low == pytest.approx(alone.low)
    assert several.seed_sd[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_critical_values_of_the_textbook():
    # Zar (1972), two-tailed, 5 %.
    published = {5: 1.0, 6: 0.886, 7: 0.786, 8: 0.738, 9: 0.700}
    assert {n: round(critical_spearman(n), 3) for n in published} == published
    assert np.isnan(critical_spearman(4))
    assert critical_spearman(30) == pytest.approx(0.361, abs=2e-3)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_partial_correlations_given_length_have_a_closed_form(coefficient):
    rng = np.random.default_rng(1)
    z, y = rng.normal(size=(2, 12))
    x = z + rng.normal(size=12)
    partial = correlation.correlate_given(x[None, None], y, z, coefficient)
    xy, xz, yz = (SCIPY[coefficient](*pair)[0] for pair in ((x, y), (x, z), (y, z)))
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert partial.value[0] == pytest.approx(expected)
    low, high = correlation_interval(expected, 11, coefficient)
    assert [partial.low[0], partial.high[0]] == pytest.approx([float(low), float(high)])
    assert partial.p_value[0] == pytest.approx(2 * stats.t.sf(abs(expected) * np.sqrt(9 / (1 - expected**2)), 9))


@pytest.mark.parametrize(
    ("n", "given", "reason"),
    [(4, [1, 2, 3, 5], "fewer than 5"), (5, [2] * 5, "same length"), (5, [0, 1, 2, 3, 4], "determines")],
)
def test_undefined_partial_correlations_have_reasons(n, given, reason):
    partial = correlation.correlate_given(np.arange(float(n))[None, None], [1, 5, 2, 7, 4][:n], given, "pearson")
    assert np.isnan(partial.value[0])
    assert reason in partial.reason[0]
