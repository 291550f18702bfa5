"""Estimators from log-probabilities; for enumerable strings they converge to the exact divergences."""

from dataclasses import astuple

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma
from scipy.stats import binom, trim_mean

from macroscope.options import Resampling
from macroscope.statistics import sampled_divergences as s
from macroscope.statistics.cross_fitted_tests import Order
from macroscope.statistics.divergences import Frontier, divergences

FRONTIER = Frontier(scale=5)
RESAMPLING = Resampling(resamples=300, permutations=199)


def test_terms_without_overflow():
    extreme = s.divergence_terms(np.array([-900.0, 0.0, 900.0]), FRONTIER.grid)
    assert np.isfinite(extreme).all()
    np.testing.assert_allclose(extreme[1], 0, atol=1e-12)
    assert extreme[2, 1] == pytest.approx(np.log(2))


@pytest.mark.parametrize("log_ratio", [-7.0, -0.5, -0.009, 0.0, 0.009, 0.011, 2.0, 30.0])
def test_term_of_the_integral(log_ratio):
    expected = quad(lambda w: -2 * w * np.log(w + (1 - w) * np.exp(-log_ratio)), 0, 1)[0]
    assert s.integral_term(np.array([log_ratio]))[0] == pytest.approx(expected, abs=1e-7)


def by_name(estimates):
    return {estimate.statistic: estimate for estimate in estimates}


def test_means_weighted_by_probabilities_are_exact():
    """Means weighted by the probabilities themselves are the divergences of the two categorical distributions."""
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    log_ratios = np.log(p / q)
    means = [
        weights @ s.divergence_terms(ratios, FRONTIER.grid) for weights, ratios in ((p, log_ratios), (q, -log_ratios))
    ]
    values = s.divergences_from_means(means[0], means[1], FRONTIER.scale)
    for name, function in divergences(FRONTIER).items():
        assert values[name] == pytest.approx(float(function(p, q)), abs=1e-9), name


@pytest.mark.slow
def test_intervals_hold_the_truth():
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.full(15, 2.0)), rng.dirichlet(np.full(15, 2.0))
    log_ratios = np.log(p / q)
    truth = {name: float(function(p, q)) for name, function in divergences(FRONTIER).items()}
    truth["jeffreys"] = truth["forward_kl"] + truth["backward_kl"]
    held = []
    for _ in range(60):
        sides = log_ratios[rng.choice(15, 200, p=p)], log_ratios[rng.choice(15, 150, p=q)]
        estimates = s.compare_log_ratios(*sides, FRONTIER, RESAMPLING)
        held.append([estimate.ci_low <= truth[estimate.statistic] <= estimate.ci_high for estimate in estimates])
        assert all(np.isnan(estimate.p_value) for estimate in estimates)
    assert (np.sum(held, axis=0) > 50).all(), np.sum(held, axis=0)


def scores_of_folds(folds, earlier, without=None):
    """Cross-fitted scores in which each fold is scored by estimates from all texts before it."""
    counts = [np.bincount(numbers, minlength=max(map(max, folds)) + 1) for numbers in folds]
    before = np.min([np.cumsum(counts_of_sample) - counts_of_sample for counts_of_sample in counts], axis=0)
    if without is None:  # estimates that no text changes
        without = [
            tuple(
                np.where(folds_of_sample == fold, np.nan, values)
                for values, folds_of_sample in zip(earlier, folds, strict=True)
            )
            for fold in range(len(before))
        ]
    return s.CrossFittedScores(earlier, Order(folds, before), tuple(without))


def learned_ratios(rng, sizes, shift, folds=5, dimensions=10):
    """Log-ratios and scores of vectors around two means that are `shift` apart, by the means of other folds."""
    sides = [rng.normal(size=(size, dimensions)) + sign * shift / 2 for size, sign in zip(sizes, (1, -1), strict=True)]
    numbers = tuple(rng.permutation(np.arange(size) % folds) for size in sizes)

    def ratios(estimating):
        """Return log-ratios of each fold by estimates from the folds `estimating(fold)`; NaN if there are none."""
        ratios_of_samples = [np.full(size, np.nan) for size in sizes]
        for fold in range(folds):
            estimating_members = [np.flatnonzero(np.isin(texts, estimating(fold))) for texts in numbers]
            size = min(map(len, estimating_members))
            if not size:
                continue
            means = [
                texts[rng.choice(members, size, replace=False)].mean(axis=0)
                for texts, members in zip(sides, estimating_members, strict=True)
            ]
            for texts, folds_of_sample, ratio in zip(sides, numbers, ratios_of_samples, strict=True):
                distances = [((texts[folds_of_sample == fold] - mean) ** 2).sum(axis=1) / 2 for mean in means]
                ratio[folds_of_sample == fold] = distances[1] - distances[0]
        return tuple(ratios_of_samples)

    all_folds = range(folds)
    without = [
        ratios(lambda fold, out=out: [] if fold == out else [f for f in all_folds if f not in (fold, out)])
        for out in all_folds
    ]
    from_other_folds = ratios(lambda fold: [f for f in all_folds if f != fold])
    return from_other_folds, scores_of_folds(numbers, ratios(lambda fold: list(range(fold))), without)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(30, 30), (20, 55)])
def test_p_values_keep_their_level(sizes, runs_of):
    """If estimates differ by noise only, 5 % and 1 % of the p-values are at most that small."""
    rng, runs = np.random.default_rng(2), runs_of(600)
    p_values = []
    for _ in range(runs):
        ratios, scores = learned_ratios(rng, sizes, 0.0)
        estimates = s.compare_log_ratios(*ratios, FRONTIER, Resampling(2, 99), scores)
        p_values.append([estimate.p_value for estimate in estimates if estimate.statistic in s.TESTED])
    rejected = [(np.array(p_values) <= level).sum(axis=0) for level in (0.05, 0.01)]
    for counts, level in zip(rejected, (0.05, 0.01), strict=True):
        low, high = binom(runs, level).ppf([0.0005, 0.9995])
        assert ((low <= counts) & (counts <= high)).all(), (level, counts)


@pytest.mark.slow
def test_p_values_find_a_difference():
    rng = np.random.default_rng(3)
    below = np.zeros(len(s.TESTED))
    for _ in range(40):
        ratios, scores = learned_ratios(rng, (40, 60), 0.4)
        estimates = s.compare_log_ratios(*ratios, FRONTIER, Resampling(2, 99), scores)
        below += np.array([estimate.p_value for estimate in estimates if estimate.statistic in s.TESTED]) <= 0.05
    assert (below >= 30).all(), below


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(60, 60), (40, 100)])
def test_intervals_hold_the_expected_value(sizes, runs_of):
    """Other texts to score and to estimate from: log-ratios of two normals one apart, whose KL is 1/2."""
    rng, runs = np.random.default_rng(6), runs_of(300)
    simulated = []
    for _ in range(runs):
        ratios, scores = learned_ratios(rng, sizes, np.eye(10)[0])
        simulated.append(s.compare_log_ratios(*ratios, FRONTIER, Resampling(2, 2), scores))
    values = np.array([[astuple(estimate)[1:4] for estimate in estimates] for estimates in simulated])
    truth = values[..., 0].mean(axis=0)  # the mean, since the estimates are biased
    np.testing.assert_allclose(truth[:2], 0.5, atol=0.1)
    names = [estimate.statistic for estimate in simulated[0]]
    held = dict(zip(names, ((values[..., 1] <= truth) & (truth <= values[..., 2])).sum(axis=0), strict=True))
    del held["exponentiated_kl"]  # its expected value is not that of exp of the expected KL
    near_0 = {name: held.pop(name) for name in ("auc_divergence", "mauve")}  # and far from normal there
    assert min(held.values()) >= binom(runs, 0.95).ppf(0.0005), held
    assert min(near_0.values()) >= binom(runs, 0.88).ppf(0.0005), near_0


def test_mauve_is_near_0_if_the_samples_have_nothing_in_common():
    """It decreases throughout; at the paper's scale it could not fall below 0.95."""
    rng = np.random.default_rng(7)
    values = []
    for shift in (0, 1, 2, 4, 8, 16):
        sides = rng.normal(shift**2 / 2, max(shift, 0.01), 2000), rng.normal(-(shift**2) / 2, max(shift, 0.01), 2000)
        values.append(by_name(s.compare_log_ratios(*sides, FRONTIER, Resampling(2, 2)))["mauve"].value)
    assert values[0] > 0.99
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(gamma(6) ** 2 / gamma(11), abs=2e-3)


def test_only_divergences_that_are_0_without_a_difference_are_tested():
    ratios, scores = learned_ratios(np.random.default_rng(4), (40, 60), 0.2)
    rows = by_name(s.compare_log_ratios(*ratios, FRONTIER, RESAMPLING, scores))
    assert {name for name, row in rows.items() if not np.isnan(row.p_value)} == set(s.TESTED)
    assert rows["jeffreys"].value == pytest.approx(rows["forward_kl"].value + rows["backward_kl"].value)
    for name in s.TESTED:
        assert (rows[name].ci_low <= 0 <= rows[name].ci_high) == (rows[name].p_value >= 0.05)


def test_calibration_makes_noisy_log_ratios_log_odds():
    """Log-ratios that are ten times too large, and shifted, give the known Jensen-Shannon divergence."""
    rng = np.random.default_rng(5)
    reference, candidate = rng.normal(0.5, 1, 4000), rng.normal(-0.5, 1, 4000)  # log p / q of x is x
    folds = np.arange(4000) % 5, np.arange(4000) % 5
    sides = (10 * reference + 3, 10 * candidate + 3)
    scaled = s.calibrate_log_ratios(*sides, folds)
    np.testing.assert_allclose(scaled[0], reference, atol=0.3)
    exact = np.log(2) - np.mean([np.logaddexp(0, -rng.normal(0.5, 1, 200000)).mean()])
    rows = by_name(s.compare_log_ratios(*sides, FRONTIER, RESAMPLING, scores_of_folds(folds, sides)))
    assert rows["jensen_shannon"].value == pytest.approx(exact, abs=0.01)
    assert rows["jensen_shannon"].ci_low < exact < rows["jensen_shannon"].ci_high


def test_noise_is_not_a_divergence():
    rng = np.random.default_rng(6)
    reference, candidate = rng.normal(0, 15, 400), rng.normal(0, 15, 400)
    folds = np.arange(400) % 5, np.arange(400) % 5
    scores = scores_of_folds(folds, (reference, candidate))
    rows = by_name(s.compare_log_ratios(reference, candidate, FRONTIER, RESAMPLING, scores))
    assert abs(rows["jensen_shannon"].value) < 0.01
    assert rows["jensen_shannon"].p_value > 0.05


def test_published_swaps_and_trims():
    rng = np.random.default_rng(3)
    reference, candidate = rng.normal(1, 1, 50), rng.normal(-1, 1, 60)
    estimates = s.published_divergences(reference, candidate, Frontier(scale=0.2))
    values = {estimate.statistic: estimate.value for estimate in estimates}
    assert values["forward_kl"] == pytest.approx(-candidate.mean())
    assert values["backward_kl"] == pytest.approx(reference.mean())
    assert values["exponentiated_kl"] == pytest.approx(np.exp(0.1 * candidate.mean()))
    x, y = [], []
    for w in np.linspace(1e-6, 1 - 1e-6, 25):
        x.append(np.exp(-0.2 * trim_mean(-np.log(w + (1 - w) * np.exp(-reference)), 0.05)))
        y.append(np.exp(-0.2 * trim_mean(-np.log((1 - w) + w * np.exp(candidate)), 0.05)))
    x, y = np.array([0, *x, 1]), np.array([1, *y, 0])
    assert values["mauve"] == pytest.approx(np.trapezoid(y, x), abs=1e-9)


def test_an_empty_sample_is_undefined():
    estimates = s.compare_log_ratios(np.empty(0), np.ones(3), FRONTIER, RESAMPLING)
    assert all(np.isnan(estimate.value) for estimate in estimates)
