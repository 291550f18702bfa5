"""Estimators from log-probabilities: where the strings can be enumerated, they converge to the exact divergences."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import trim_mean

from macroscope.statistics import sampled_divergences as s
from macroscope.statistics.divergences import Frontier, divergences
from macroscope.statistics.latent import Resampling

FRONTIER = Frontier(scale=0.2)
RESAMPLING = Resampling(resamples=300, permutations=199)


def test_terms_without_overflow():
    extreme = s.terms(np.array([-900.0, 0.0, 900.0]), FRONTIER.grid)
    assert np.isfinite(extreme).all()
    np.testing.assert_allclose(extreme[1], 0, atol=1e-12)
    assert extreme[2, 1] == pytest.approx(np.log(2))


@pytest.mark.parametrize("log_ratio", [-7.0, -0.5, -0.009, 0.0, 0.009, 0.011, 2.0, 30.0])
def test_term_of_the_integral(log_ratio):
    found = quad(lambda w: -2 * w * np.log(w + (1 - w) * np.exp(-log_ratio)), 0, 1)[0]
    assert s.integral_term(np.array([log_ratio]))[0] == pytest.approx(found, abs=1e-7)


def test_exact_where_every_string_counts_as_its_probability():
    """Means weighted by the probabilities themselves are the divergences of the two categorical distributions."""
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    log_ratios = np.log(p / q)
    means = [weights @ s.terms(own, FRONTIER.grid) for weights, own in ((p, log_ratios), (q, -log_ratios))]
    found = s.from_means(means[0], means[1], FRONTIER.scale)
    for name, function in divergences(FRONTIER).items():
        assert found[name] == pytest.approx(float(function(p, q)), abs=1e-9), name


def test_intervals_hold_the_truth():
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.full(15, 2.0)), rng.dirichlet(np.full(15, 2.0))
    log_ratios = np.log(p / q)
    truth = {name: float(function(p, q)) for name, function in divergences(FRONTIER).items()}
    held = []
    for _ in range(60):
        sides = log_ratios[rng.choice(15, 200, p=p)], log_ratios[rng.choice(15, 150, p=q)]
        rows = s.compare_log_ratios(*sides, FRONTIER, RESAMPLING)
        held.append([low <= truth[name] <= high for name, _, low, high, _ in rows])
        assert all(np.isnan(row[4]) for row in rows)
    assert (np.sum(held, axis=0) > 50).all(), np.sum(held, axis=0)


def test_p_values_of_estimates_that_have_not_seen_the_texts():
    """Scores of a fixed and wrong model: where both sides are alike, 5 % of the p-values are below 5 %."""
    rng = np.random.default_rng(2)
    below = 0
    for _ in range(100):
        reference, candidate = rng.normal(0.7, 2, 60), rng.normal(0.7, 2, 40)
        folds = np.arange(60) % 2, np.arange(40) % 2
        rows = s.compare_log_ratios(reference, candidate, FRONTIER, Resampling(100, 99), folds)
        below += rows[0][4] <= 0.05
    assert below <= 14  # binomial(100, 0.05): more, once in ten thousand times
    rows = s.compare_log_ratios(reference + 3, candidate, FRONTIER, RESAMPLING, folds)
    assert max(row[4] for row in rows) < 0.05


def test_calibration_makes_noisy_log_ratios_log_odds():
    """Known log-ratios, ten times too sure and shifted: the known Jensen-Shannon divergence is found all the same."""
    rng = np.random.default_rng(5)
    reference, candidate = rng.normal(0.5, 1, 4000), rng.normal(-0.5, 1, 4000)  # log p / q of x is x
    folds = np.arange(4000) % 2, np.arange(4000) % 2
    scaled = s.calibrate(10 * reference + 3, 10 * candidate + 3, folds)
    np.testing.assert_allclose(scaled[0], reference, atol=0.3)
    exact = np.log(2) - np.mean([np.logaddexp(0, -rng.normal(0.5, 1, 200000)).mean()])
    rows = {
        row[0]: row for row in s.compare_log_ratios(10 * reference + 3, 10 * candidate + 3, FRONTIER, RESAMPLING, folds)
    }
    assert rows["jensen_shannon"][1] == pytest.approx(exact, abs=0.01)
    assert rows["jensen_shannon"][2] < exact < rows["jensen_shannon"][3]


def test_noise_is_no_divergence():
    rng = np.random.default_rng(6)
    reference, candidate = rng.normal(0, 15, 400), rng.normal(0, 15, 400)
    folds = np.arange(400) % 5, np.arange(400) % 5
    rows = {row[0]: row for row in s.compare_log_ratios(reference, candidate, FRONTIER, RESAMPLING, folds)}
    assert abs(rows["jensen_shannon"][1]) < 0.01
    assert rows["jensen_shannon"][4] > 0.05


def test_published_swaps_and_trims():
    rng = np.random.default_rng(3)
    reference, candidate = rng.normal(1, 1, 50), rng.normal(-1, 1, 60)
    rows = {row[0]: row[1] for row in s.published(reference, candidate, FRONTIER)}
    assert rows["forward_kl"] == pytest.approx(-candidate.mean())
    assert rows["backward_kl"] == pytest.approx(reference.mean())
    assert rows["exponentiated_kl"] == pytest.approx(np.exp(0.1 * candidate.mean()))
    x, y = [], []
    for w in np.linspace(1e-6, 1 - 1e-6, 25):
        x.append(np.exp(-0.2 * trim_mean(-np.log(w + (1 - w) * np.exp(-reference)), 0.05)))
        y.append(np.exp(-0.2 * trim_mean(-np.log((1 - w) + w * np.exp(candidate)), 0.05)))
    x, y = np.array([0, *x, 1]), np.array([1, *y, 0])
    assert rows["mauve"] == pytest.approx(np.trapezoid(y, x), abs=1e-9)


def test_no_text_on_a_side():
    assert all(np.isnan(row[1]) for row in s.compare_log_ratios(np.empty(0), np.ones(3), FRONTIER, RESAMPLING))
