"""Heaps' law against known values, a peer, and simulation."""

import numpy as np
import pytest
from scipy import optimize, stats

from macroscope.critics.tendencies.type_token import (
    distance_between_types,
    distance_to_poisson,
    fit_heaps,
    length_bins,
    poisson_mixture_cdf,
)

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
