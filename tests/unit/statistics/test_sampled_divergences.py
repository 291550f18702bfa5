"""Estimators from log-probabilities: where the strings can be enumerated, they converge to the exact divergences."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma
from scipy.stats import binom, trim_mean

from macroscope.statistics import sampled_divergences as s
from macroscope.statistics.cross_fitted_tests import Order
from macroscope.statistics.divergences import Frontier, divergences
from macroscope.statistics.latent import Resampling

FRONTIER = Frontier(scale=5)
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


def scored(folds, earlier, without=None):
    """Folds of which each was scored by estimates from as many texts as there are before it."""
    counts = [np.bincount(side, minlength=max(map(max, folds)) + 1) for side in folds]
    before = np.min([np.cumsum(some) - some for some in counts], axis=0)
    if without is None:  # estimates that no text changes
        without = [
            tuple(np.where(own == fold, np.nan, side) for side, own in zip(earlier, folds, strict=True))
            for fold in range(len(before))
        ]
    return s.Scored(earlier, Order(folds, before), tuple(without))


def learned(rng, sizes, shift, folds=5, dimensions=10):
    """Texts as vectors around two means that are `shift` apart: log-ratios by the means of other folds, and how."""
    sides = [rng.normal(size=(size, dimensions)) + sign * shift / 2 for size, sign in zip(sizes, (1, -1), strict=True)]
    numbers = tuple(rng.permutation(np.arange(size) % folds) for size in sizes)

    def ratios(estimating):
        """Log-ratios of each fold by the folds of which `estimating(fold)` says so; nan where there are none."""
        found = [np.full(size, np.nan) for size in sizes]
        for fold in range(folds):
            chosen = [np.flatnonzero(np.isin(side, estimating(fold))) for side in numbers]
            size = min(map(len, chosen))
            if not size:
                continue
            means = [
                side[rng.choice(some, size, replace=False)].mean(axis=0)
                for side, some in zip(sides, chosen, strict=True)
            ]
            for side, own, ratio in zip(sides, numbers, found, strict=True):
                far = [((side[own == fold] - mean) ** 2).sum(axis=1) / 2 for mean in means]
                ratio[own == fold] = far[1] - far[0]
        return tuple(found)

    everyone = range(folds)
    without = [
        ratios(lambda fold, out=out: [] if fold == out else [f for f in everyone if f not in (fold, out)])
        for out in everyone
    ]
    others = ratios(lambda fold: [f for f in everyone if f != fold])
    return others, scored(numbers, ratios(lambda fold: list(range(fold))), without)


@pytest.mark.parametrize("sizes", [(30, 30), (20, 55)])
def test_p_values_keep_their_level(sizes):
    """Estimates that only noise tells apart: at 5 % and at 1 %, so many of the p-values and no more."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(300):
        ratios, how = learned(rng, sizes, 0.0)
        rows = s.compare_log_ratios(*ratios, FRONTIER, Resampling(2, 99), how)
        found.append([row[4] for row in rows])
    rejected = [(np.array(found) <= level).sum(axis=0) for level in (0.05, 0.01)]
    for counts, level in zip(rejected, (0.05, 0.01), strict=True):
        low, high = binom(300, level).ppf([0.0005, 0.9995])
        assert ((low <= counts) & (counts <= high)).all(), (level, counts)


def test_p_values_find_a_difference():
    rng = np.random.default_rng(3)
    below = 0
    for _ in range(40):
        ratios, how = learned(rng, (40, 60), 0.4)
        rows = s.compare_log_ratios(*ratios, FRONTIER, Resampling(2, 99), how)
        below += np.array([row[4] for row in rows]) <= 0.05
    assert (below >= 30).all(), below


@pytest.mark.parametrize("sizes", [(60, 60), (40, 100)])
def test_intervals_hold_the_expected_value(sizes):
    """Other texts to score and to estimate from: log-ratios of two normals one apart, whose KL is 1/2."""
    rng = np.random.default_rng(6)
    rows = []
    for _ in range(150):
        ratios, how = learned(rng, sizes, np.eye(10)[0])
        rows.append(s.compare_log_ratios(*ratios, FRONTIER, Resampling(2, 2), how))
    found = np.array([[row[1:4] for row in some] for some in rows])
    truth = found[..., 0].mean(axis=0)  # the estimates are biased: what they are on average
    np.testing.assert_allclose(truth[:2], 0.5, atol=0.1)
    names = [row[0] for row in rows[0]]
    held = dict(zip(names, ((found[..., 1] <= truth) & (truth <= found[..., 2])).sum(axis=0), strict=True))
    del held["exponentiated_kl"]  # its expected value is not that of exp of the expected KL
    near_0 = {name: held.pop(name) for name in ("auc_divergence", "mauve")}  # and far from normal there
    assert min(held.values()) >= binom(150, 0.95).ppf(0.0005), held
    assert min(near_0.values()) >= binom(150, 0.88).ppf(0.0005), near_0


def test_mauve_is_near_0_where_the_sides_have_nothing_in_common():
    """And falls all the way there; at the paper's scale it could not fall below 0.95."""
    rng = np.random.default_rng(7)
    values = []
    for shift in (0, 1, 2, 4, 8, 16):
        sides = rng.normal(shift**2 / 2, max(shift, 0.01), 2000), rng.normal(-(shift**2) / 2, max(shift, 0.01), 2000)
        values.append({row[0]: row[1] for row in s.compare_log_ratios(*sides, FRONTIER, Resampling(2, 2))}["mauve"])
    assert values[0] > 0.99
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(gamma(6) ** 2 / gamma(11), abs=2e-3)


def test_p_values_of_both_kl_are_of_the_same_sum():
    ratios, how = learned(np.random.default_rng(4), (40, 60), 0.2)
    rows = {row[0]: row for row in s.compare_log_ratios(*ratios, FRONTIER, RESAMPLING, how)}
    assert rows["forward_kl"][4] == rows["backward_kl"][4] == rows["exponentiated_kl"][4]


def test_calibration_makes_noisy_log_ratios_log_odds():
    """Known log-ratios, ten times too sure and shifted: the known Jensen-Shannon divergence is found all the same."""
    rng = np.random.default_rng(5)
    reference, candidate = rng.normal(0.5, 1, 4000), rng.normal(-0.5, 1, 4000)  # log p / q of x is x
    folds = np.arange(4000) % 5, np.arange(4000) % 5
    sides = (10 * reference + 3, 10 * candidate + 3)
    scaled = s.calibrate(*sides, folds)
    np.testing.assert_allclose(scaled[0], reference, atol=0.3)
    exact = np.log(2) - np.mean([np.logaddexp(0, -rng.normal(0.5, 1, 200000)).mean()])
    rows = {row[0]: row for row in s.compare_log_ratios(*sides, FRONTIER, RESAMPLING, scored(folds, sides))}
    assert rows["jensen_shannon"][1] == pytest.approx(exact, abs=0.01)
    assert rows["jensen_shannon"][2] < exact < rows["jensen_shannon"][3]


def test_noise_is_no_divergence():
    rng = np.random.default_rng(6)
    reference, candidate = rng.normal(0, 15, 400), rng.normal(0, 15, 400)
    folds = np.arange(400) % 5, np.arange(400) % 5
    how = scored(folds, (reference, candidate))
    rows = {row[0]: row for row in s.compare_log_ratios(reference, candidate, FRONTIER, RESAMPLING, how)}
    assert abs(rows["jensen_shannon"][1]) < 0.01
    assert rows["jensen_shannon"][4] > 0.05


def test_published_swaps_and_trims():
    rng = np.random.default_rng(3)
    reference, candidate = rng.normal(1, 1, 50), rng.normal(-1, 1, 60)
    rows = {row[0]: row[1] for row in s.published(reference, candidate, Frontier(scale=0.2))}
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
