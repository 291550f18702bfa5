"""Heaps' law of texts that vary more or less than it predicts, and of documents with dependent texts."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import optimize, stats

from macroscope.critics.tendencies import growth
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.type_token import (
    distance_between_types,
    distance_to_poisson,
    fit_heaps,
    length_bins,
    poisson_mixture_cdf,
)
from macroscope.statistics.permutation_groups import Permutation

ALPHA, BETA = 2.0, 0.7
OPTIONS = TendenciesOptions(
    simulations=20, count_permutations=99, length_bins_per_decade=4, min_texts_per_length=5, unit="section"
)
RUNS = 50


def texts(rng, documents, each=1, spread=1.0, variance=0.0):
    """Simulate texts with widely varying lengths.

    Parameters
    ----------
    each
        Number of texts per document.
    spread
        Spread of the types about their mean, in standard deviations of the Poisson law.
    variance
        Variance of a factor that all texts of a document share.
    """
    lengths = np.exp(rng.normal(4.6, 0.7, documents * each)).astype(int) + 5
    factor = rng.gamma(1 / variance, variance, documents) if variance else np.ones(documents)
    expected = ALPHA * lengths**BETA * np.repeat(factor, each)
    types = np.maximum(1, np.round(expected + spread * (rng.poisson(expected) - expected))).astype(int)
    blocks = np.repeat(np.arange(documents), each)
    return pd.DataFrame({"tokens": lengths, "types": types, "bigram_types": types, "block": blocks})


KINDS = {
    "as the law says": {"documents": 50},
    "less": {"documents": 50, "spread": 0.5},
    "more": {"documents": 50, "variance": 0.05},
    "by document": {"documents": 40, "each": 4, "variance": 0.05},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_the_law_cover_it_however_texts_vary(kind):
    rng, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(RUNS):
        estimates = growth.collection_rows(texts(rng, **KINDS[kind]), "heaps", OPTIONS, 0.95, 1)
        by_name = {estimate.statistic: estimate for estimate in estimates}
        for i, (name, truth) in enumerate((("heaps_alpha", ALPHA), ("heaps_beta", BETA))):
            covered[i] += by_name[name].ci_low <= truth <= by_name[name].ci_high
    assert (covered >= RUNS * 0.95 - 3 * np.sqrt(RUNS * 0.95 * 0.05)).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["as the law says", "by document"])
def test_tests_of_growth_keep_their_level_at_unequal_sizes(kind):
    rng, p = np.random.default_rng(1), {}
    for run in range(RUNS):
        candidate, reference = (texts(rng, **KINDS[kind] | {"documents": count}) for count in (25, 60))
        for estimate in growth.comparison_rows(reference, candidate, "heaps", OPTIONS, 0.95, run):
            p.setdefault(estimate.statistic, []).append(estimate.p_value)
    assert np.mean(np.array(p["heaps_d_empirical"]) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / RUNS)
    assert 0.37 < np.mean(p["heaps_d_empirical"]) < 0.65
    if kind == "as the law says":  # the other texts do not follow the law
        assert np.mean(np.array(p["heaps_d_reference"]) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / RUNS)
        assert 0.37 < np.mean(p["heaps_d_reference"]) < 0.65


def test_a_different_growth_is_detected():
    rng = np.random.default_rng(2)
    reference, candidate = texts(rng, 80), texts(rng, 60)
    candidate["types"] = np.maximum(1, candidate["types"] * 3 // 4)
    for estimate in growth.comparison_rows(reference, candidate, "heaps", OPTIONS, 0.95, 1):
        assert estimate.p_value == (0.01 if estimate.statistic == "heaps_d_empirical" else pytest.approx(1 / 21))


@pytest.mark.slow
@pytest.mark.parametrize("bins", [1, 10, 40, None])
def test_few_texts_of_a_length(bins):
    rng = np.random.default_rng(3)
    options = OPTIONS.model_copy(update={"min_texts_per_length": 2, "length_bins_per_decade": bins})
    for sizes in ((2, 3), (12, 5), (40, 90)):
        reference, candidate = (texts(rng, size) for size in sizes)
        estimates = growth.collection_rows(candidate, "heaps", options, 0.95, 1)
        estimates += growth.comparison_rows(reference, candidate, "heaps", options, 0.95, 1)
        for estimate in estimates:
            is_parameter = estimate.statistic.endswith(("alpha", "beta"))
            assert np.isnan(estimate.value) or is_parameter or 0 <= estimate.value <= 1
            assert np.isnan(estimate.ci_low) or estimate.ci_low <= estimate.ci_high
            assert np.isnan(estimate.p_value) or 0 < estimate.p_value <= 1
        curve = growth.curve(reference, candidate, "heaps", options, 1)
        assert (curve["texts"] >= 2).all()
        assert curve.loc[curve["reference_texts"] == 0, "d_empirical"].isna().all()
        assert curve["standard_error"].notna().all()


def test_a_length_needs_two_texts():
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        TendenciesOptions(min_texts_per_length=1)


@pytest.mark.slow
def test_texts_of_one_document_are_permuted_together_at_every_length():
    """Documents have twenty similar sections and there is no difference: few runs find a significant one."""
    options = OPTIONS.model_copy(update={"unit": "section", "count_permutations": 99})
    rejections = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sides = []
        for _ in range(2):
            richness = np.repeat(rng.normal(30, 6, 15), 20)
            types = np.maximum(rng.normal(richness, 1), 5).round()
            sides.append(pd.DataFrame({"tokens": 50, "types": types, "block": np.repeat(np.arange(15), 20)}))
        table = growth.curve(*sides, "heaps", options, seed, Permutation((15, 15)))
        rejections += (table["p_empirical"] <= 0.05).any()
    assert rejections <= 6


LENGTHS, TYPES = [5, 10, 20, 40, 80, 160], [5, 9, 17, 30, 54, 95]


def test_known_fit():
    fit = fit_heaps(LENGTHS, TYPES)
    assert (fit.alpha, fit.beta) == (pytest.approx(1.33851977, rel=2e-6), pytest.approx(0.84123863, rel=2e-6))
    nll = -stats.poisson.logpmf(TYPES, fit.rate(LENGTHS)).sum()
    assert nll == pytest.approx(14.85960432, abs=1e-7)


def test_no_other_parameters_are_more_likely():
    fit = fit_heaps(LENGTHS, TYPES)
    best = optimize.minimize(
        lambda x: -stats.poisson.logpmf(TYPES, np.exp(x[0]) * np.array(LENGTHS, float) ** x[1]).sum(),
        [0.1, 0.9],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12},
    )
    assert [np.log(fit.alpha), fit.beta] == pytest.approx(best.x, abs=1e-6)


def test_distance_to_poisson_by_its_definition():
    rng = np.random.default_rng(1)
    rates = np.array([3.0, 3.0, 7.0, 11.0])
    types = rng.poisson(rates).astype(float)
    by_hand = max(abs((types <= k).mean() - np.mean([stats.poisson.cdf(k, rate) for rate in rates])) for k in range(60))
    assert distance_to_poisson(types, rates) == pytest.approx(by_hand)
    assert poisson_mixture_cdf(np.array([4.0]), np.arange(10)) == pytest.approx(stats.poisson.cdf(np.arange(10), 4.0))


def test_distance_between_types_agrees_with_scipy():
    rng = np.random.default_rng(2)
    a, b = rng.poisson(9, 50).astype(float), rng.poisson(12, 70).astype(float)
    assert distance_between_types(a, b) == pytest.approx(stats.ks_2samp(a, b).statistic)


def test_bins_have_equal_ratios_and_hold_their_lengths():
    lengths = np.arange(1, 2000)
    bins = length_bins(lengths, 10)
    assert (bins <= lengths).all()
    assert (lengths < bins * 10**0.1 + 1).all()
    assert length_bins(lengths, None).tolist() == lengths.tolist()
    assert length_bins([1000], 10).tolist() == [1000]
    assert len(length_bins([], 10)) == 0


def test_a_single_length_has_no_slope():
    assert fit_heaps([5, 5, 0], [4, 3, 0]) is None
    assert fit_heaps([], []) is None
