"""Exponent of Zipf's law, and tests of the law, on simulated samples of the law."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import zeta

from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.rank_frequency import (
    _minus_log_zeta_slope,
    distance_between_ranks,
    distance_to_zipf,
    fit_zipf,
    rank_counts,
    zipf_cdf,
)
from macroscope.critics.tendencies.vocabulary import collection_rows
from macroscope.critics.tendencies.zipf import (
    expected_mean_log_rank,
    fitted_law_p_value,
    reference_law_p_value,
    sample_zipf_counts,
    zipf_exponent,
)


def mean_log_rank(counts):
    counts = rank_counts(counts)
    return counts @ np.log(np.arange(1, len(counts) + 1)) / counts.sum()


@pytest.mark.parametrize(("tokens", "samples"), [(300, 400), (10_000, 60)])
@pytest.mark.parametrize("s", [1.02, 1.1, 1.3, 1.5, 1.8, 2.5, 3.5])
def test_expected_mean_log_rank_is_that_of_simulated_samples(s, tokens, samples):
    rng = np.random.default_rng(0)
    simulated = [mean_log_rank(sample_zipf_counts(s, tokens, rng)) for _ in range(samples)]
    error = np.std(simulated) / np.sqrt(samples)
    # The formula is off by a tenth of a standard deviation at most; the law's E[log k] by up to 100 of them.
    assert abs(np.mean(simulated) - expected_mean_log_rank(s, tokens)) < 4 * error + 0.1 * np.std(simulated)


@pytest.mark.parametrize("s", [1.05, 1.2, 1.5, 2.5])
def test_expectation_approaches_the_law_s_as_tokens_grow(s):
    k = np.arange(1, 10_001, dtype=float)
    tail = 1e4 ** (1 - s) / (s - 1) * (np.log(1e4) + 1 / (s - 1))
    of_the_law = (np.log(k) @ k**-s + tail) / zeta(s)
    missing = of_the_law - np.array([expected_mean_log_rank(s, 10.0**n) for n in (3, 5, 7, 9, 15)])
    # What is missing falls as N^(1/s - 1), but for a logarithm; 10^-5 is a third of a standard error at 10^9.
    assert (np.diff(missing) < 1e-5).all()
    assert missing[-1] < missing[-2] * 2 * 10.0 ** (6 * (1 / s - 1)) + 1e-5


@pytest.mark.parametrize("s", [1.3, 1.5, 1.8, 2.5])
def test_exponent_of_a_sample_is_the_law_s(s):
    rng = np.random.default_rng(1)
    samples = [sample_zipf_counts(s, 10_000, rng) for _ in range(40)]
    exponents = [zipf_exponent(sample) for sample in samples]
    error = np.std(exponents) / np.sqrt(40)
    assert abs(np.mean(exponents) - s) < 3.5 * error
    if s <= 1.5:  # the exponent that fits the ranked counts is not
        assert np.mean([fit_zipf(sample) for sample in samples]) > s + 10 * error


@pytest.mark.parametrize("tokens", [30, 400, 20_000])
@pytest.mark.parametrize("s", [1.01, 1.2, 2.0, 6.0])
def test_exponent_has_the_observed_mean_log_rank(s, tokens):
    """Wherever the search begins: the rough root of a sample is that of others."""
    for seed in range(5):
        counts = sample_zipf_counts(s, tokens, np.random.default_rng(seed))
        exponent = zipf_exponent(counts)
        if np.count_nonzero(counts) < 2:
            assert np.isnan(exponent)
        elif np.isnan(exponent):  # flatter than any law
            assert expected_mean_log_rank(1 + 1e-4, counts.sum()) <= mean_log_rank(counts)
        elif exponent == 60:  # steeper
            assert expected_mean_log_rank(60, counts.sum()) >= mean_log_rank(counts)
        else:
            assert expected_mean_log_rank(exponent, counts.sum()) == pytest.approx(mean_log_rank(counts), rel=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("s", [1.3, 1.8])
def test_interval_of_the_exponent_covers_the_law_s(s):
    rng = np.random.default_rng(2)
    options = TendenciesOptions(simulations=20)
    covered = []
    for _ in range(40):
        documents = [zipf_ranks(s, 80, rng) for _ in range(50)]
        types = {rank: n for n, rank in enumerate(sorted(set(np.concatenate(documents))))}
        counts = sparse.lil_matrix((len(documents), len(types)))
        for n, ranks in enumerate(documents):
            for rank in ranks:
                counts[n, types[rank]] += 1
        by_name = {estimate.statistic: estimate for estimate in collection_rows(counts.tocsr(), options, 0.95, 1)}
        covered.append(by_name["zipf_s"].ci_low <= s <= by_name["zipf_s"].ci_high)
    assert sum(covered) >= 34


def zipf_ranks(s, tokens, rng):
    """Tokens of Zipf's law by numpy, of which those beyond 10^15 are few for these exponents."""
    return np.minimum(rng.zipf(s, tokens), 10**15)


@pytest.mark.slow
@pytest.mark.parametrize("s", [1.3, 1.5, 1.8, 2.5])
def test_a_text_of_the_law_is_not_rejected(s):
    rng = np.random.default_rng(3)
    fitted, of_reference = [], []
    for _ in range(60):
        candidate, reference = sample_zipf_counts(s, 10_000, rng), sample_zipf_counts(s, 4_000, rng)
        fitted.append(fitted_law_p_value(candidate, 10_000, 19, rng))
        of_reference.append(reference_law_p_value(candidate, reference, 10_000, 19, rng))
    for p in (fitted, of_reference):
        assert np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / 60)
        assert 0.37 < np.mean(p) < 0.68


@pytest.mark.slow
def test_another_law_is_rejected():
    rng = np.random.default_rng(4)
    flat = rng.multinomial(5000, np.ones(200) / 200)
    assert fitted_law_p_value(flat, 1000, 99, rng) == 0.01
    assert reference_law_p_value(flat, sample_zipf_counts(1.5, 5000, rng), 1000, 99, rng) == 0.01
    assert (
        reference_law_p_value(sample_zipf_counts(1.6, 20_000, rng), sample_zipf_counts(1.4, 20_000, rng), 1000, 99, rng)
        == 0.01
    )


@pytest.mark.parametrize("s", [1.02, 1.3, 2.5])
def test_samples_have_the_law_s_probabilities(s):
    counts = np.sort(sample_zipf_counts(s, 100_000, np.random.default_rng(5)))[::-1]
    assert counts.sum() == 100_000
    expected = 100_000 / zeta(s)
    assert abs(counts[0] - expected) < 4 * np.sqrt(expected)


def test_counts_that_no_law_fits():
    assert np.isnan(zipf_exponent([7]))
    assert np.isnan(zipf_exponent([1] * 50))
    assert np.isnan(fitted_law_p_value([1] * 50, 10, 20, np.random.default_rng(0)))
    assert zipf_exponent([10**9, 1]) > 10


def test_known_fit_and_distance():
    frequencies = [10, 5, 3, 2, 1, 1]
    s = fit_zipf(frequencies)
    assert s == pytest.approx(1.98008424, abs=1e-7)
    assert distance_to_zipf(frequencies, s, 10_000) == pytest.approx(0.14641297, abs=1e-7)


def test_published_exponent_has_the_infinite_support():
    # meister2021, Table 4: s = 1.1997; with it, the law gives 18 % of all tokens to the first rank.
    assert _minus_log_zeta_slope(1.1997) == pytest.approx(4.4658, abs=1e-4)
    cdf = zipf_cdf(1.1997, 10_000)
    assert cdf[[0, 1, -1]] == pytest.approx([0.1786, 0.2564, 0.858], abs=2e-4)


@pytest.mark.parametrize("s", [1.05, 1.5, 2.0, 3.0, 8.0])
def test_slope_of_the_zeta_function(s):
    step = 1e-5
    numeric = -(np.log(zeta(s + step)) - np.log(zeta(s - step))) / (2 * step)
    assert _minus_log_zeta_slope(s) == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("s", [1.6, 2.5])
def test_exponent_of_the_expected_frequencies_of_a_law_is_the_law_s(s):
    # The ranks are the true ones, so only the solver is tested.
    assert fit_zipf(1e9 * np.arange(1, 400_001, dtype=float) ** -s) == pytest.approx(s, abs=0.02)


def test_distance_between_rank_distributions():
    assert distance_between_ranks([3, 1], [1, 3], 10) == 0  # each side has its own ranking
    assert distance_between_ranks([2, 1, 1], [4], 10) == pytest.approx(0.5)
    assert distance_between_ranks([2, 1, 1], [2, 2], 1) == 0  # only the first rank counts


def test_too_few_types_are_undefined():
    assert np.isnan(fit_zipf([7]))
    assert np.isnan(fit_zipf([]))
    assert np.isnan(distance_to_zipf([7], fit_zipf([7]), 10))
    assert np.isnan(distance_between_ranks([], [1], 10))
