"""Corrected rates: Fieller's interval by hand and by scanning, undefined cases, and simulated coverages."""

import numpy as np
import pytest
from scipy.stats import beta

from macroscope.statistics.misclassification import corrected_rate
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import wilson_interval


def trials(marked, n):
    """Return one position per document."""
    return np.repeat([1.0, 0.0], [marked, n - marked]), np.ones(n)


def unpaired(reference, candidate):
    return Permutation((len(reference[0]), len(candidate[0])))


def sample_rates(n, rate, concentration, rng):
    """Sample rates of documents; the smaller the concentration, the more correlated are positions of a document."""
    return rng.beta(rate * concentration, (1 - rate) * concentration, n)


def marks(rates, rng, most=40):
    positions = rng.integers(1, most + 1, len(rates))
    return rng.binomial(positions, rates), positions


def is_held(theta, interval):
    """Return whether an interval holds theta; an undefined end holds every theta."""
    return not (interval[1] > theta or interval[2] < theta)


def test_the_value_of_a_mixture_is_the_share_that_is_damaged():
    positions = np.array([4.0, 20.0, 12.0])
    c, t, share = 0.05, 0.8, 0.15
    sides = [(rate * positions, positions) for rate in (c, (1 - share) * c + share * t, t)]
    assert corrected_rate(*sides, Permutation((3, 3)), 0.95)[0] == pytest.approx(share)
    half = (c / 2 * positions, positions)
    assert corrected_rate(sides[0], half, sides[2], Permutation((3, 3)), 0.95)[0] == pytest.approx(-c / 2 / (t - c))


def test_between_0_and_1_it_is_fiellers_interval_by_hand():
    """With Wilson's distances in place of quantile x standard error, each in the direction of the rate's error."""
    c, s, t = 0.04, 0.15, 0.7
    (c_low, s_low, t_low), (c_high, s_high, t_high) = wilson_interval([8, 30, 70], [200, 200, 100])
    value, low, high = corrected_rate(trials(8, 200), trials(30, 200), trials(70, 100), Permutation((200, 200)), 0.95)
    assert value == pytest.approx(0.11 / 0.66)
    for end, of_s, of_c, of_t, sign in (
        (low, s - s_low, c_high - c, t_high - t, -1),
        (high, s_high - s, c - c_low, t - t_low, 1),
    ):
        a = 0.66**2 - of_c**2 - of_t**2
        b = 0.11 * 0.66 - of_c**2
        constant = 0.11**2 - of_s**2 - of_c**2
        assert end == pytest.approx((b + sign * np.sqrt(b**2 - a * constant)) / a)


@pytest.mark.parametrize(
    ("marked", "sizes"),
    [
        ((10, 2, 30), (100, 60, 40)),  # less is marked than in real text
        ((3, 59, 50), (100, 60, 60)),  # more than in damaged text
        ((0, 0, 30), (200, 300, 40)),
        ((1, 1, 6), (50, 60, 40)),
        ((5, 20, 40), (60, 60, 40)),  # every damaged position is found
        ((20, 30, 16), (60, 60, 25)),
    ],
)
def test_the_interval_is_every_theta_that_the_rates_allow(marked, sizes):
    """By scanning."""
    lows, highs = wilson_interval(marked, sizes)
    c, s, t = np.array(marked) / np.array(sizes)
    value, low, high = corrected_rate(*map(trials, marked, sizes), Permutation(sizes[:2]), 0.95)
    theta = np.linspace(low - 1, high + 1, 200_001)
    difference = s - (1 - theta) * c - theta * t
    squares = np.zeros_like(theta)
    for rate, below, above, weight in zip(
        (c, s, t), lows, highs, (theta - 1, np.ones_like(theta), -theta), strict=True
    ):
        squares += np.where((weight > 0) == (difference > 0), rate - below, above - rate) ** 2 * weight**2
    held = theta[difference**2 <= squares]
    assert low <= value <= high
    assert (low, high) == (pytest.approx(held.min(), abs=1e-4), pytest.approx(held.max(), abs=1e-4))


def test_in_large_samples_it_is_fiellers_interval_with_standard_errors():
    rng = np.random.default_rng(1)
    shared = sample_rates(20_000, 0.1, 10, rng)
    sides = [
        marks(shared, rng),
        marks(0.7 * shared + 0.3 * 0.6, rng),
        marks(sample_rates(20_000, 0.6, 10, rng), rng, 10),
    ]
    groups = np.tile(np.arange(1, 20_001), 2)
    c, s, t = (y.sum() / x.sum() for y, x in sides)
    of_c, of_s, of_t = ((y - rate * x) / x.sum() for (y, x), rate in zip(sides, (c, s, t), strict=True))
    covariance = np.cov(np.stack([of_s - of_c, -of_c])) * 20_000 + [[0, 0], [0, np.var(of_t) * 20_000]]
    square, linear, constant = (
        (a * b) - 1.96**2 * v
        for a, b, v in (
            (t - c, t - c, covariance[1, 1]),
            (s - c, t - c, covariance[0, 1]),
            (s - c, s - c, covariance[0, 0]),
        )
    )
    value, low, high = corrected_rate(*sides, Permutation((20_000, 20_000), groups), 0.95)
    half = np.sqrt(linear**2 - square * constant) / square
    assert [value - low, high - value] == pytest.approx([half, half], rel=0.03)


def test_a_rate_without_positions_is_undefined():
    sample, nothing, unseen = trials(5, 20), (np.empty(0), np.empty(0)), (np.zeros(4), np.zeros(4))
    for empty in (nothing, unseen):
        for samples in ((empty, sample, sample), (sample, empty, sample), (sample, sample, empty)):
            assert np.isnan(corrected_rate(*samples, unpaired(*samples[:2]), 0.95)).all()


def test_a_detector_without_sensitivity_gives_no_estimate():
    for damaged in (trials(5, 20), trials(0, 20)):
        assert np.isnan(corrected_rate(trials(5, 20), trials(9, 20), damaged, Permutation((20, 20)), 0.95)).all()
    few = corrected_rate(trials(5, 20), trials(9, 20), trials(8, 20), Permutation((20, 20)), 0.95)
    assert few[0] == pytest.approx(4 / 3)
    assert np.isnan(few[1:]).all()


def test_one_document_has_no_interval():
    many, single, idle = trials(2, 60), ([3.0], [30.0]), ([3.0, 0.0], [30.0, 0.0])
    damaged = trials(50, 60)
    for small in (single, idle):
        for sides in ((small, many, damaged), (many, small, damaged), (many, many, ([9.0], [10.0]))):
            value, low, high = corrected_rate(*sides, unpaired(*sides[:2]), 0.95)
            assert np.isfinite(value)
            assert np.isnan([low, high]).all()
    groups = np.ones(120, dtype=int)
    assert np.isnan(corrected_rate(many, many, damaged, Permutation((60, 60), groups), 0.95)[1:]).all()


def test_the_interval_has_a_width_if_nothing_is_marked():
    value, low, high = corrected_rate(trials(0, 200), trials(0, 100), trials(45, 50), Permutation((200, 100)), 0.95)
    assert value == 0
    # As wide as Wilson's of 0 of 200 and 0 of 100, with a sensitivity of .9.
    assert low == pytest.approx(-0.0188 / 0.9, rel=0.05)
    assert high == pytest.approx(0.0370 / 0.9, rel=0.15)
    everything = corrected_rate(trials(0, 200), trials(100, 100), trials(50, 50), Permutation((200, 100)), 0.95)
    assert everything[0] == 1
    assert everything[1] < 0.98
    assert everything[2] > 1.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "c", "t", "theta", "concentration", "most"),
    [
        ((20, 300, 40), 0.02, 0.6, 0.0, 20, 1.0),  # with standard errors: .89
        ((20, 300, 40), 0.02, 0.2, 0.05, 3, 1.0),  # .80; a weak detector
        ((300, 20, 40), 0.02, 0.9, 0.05, 3, 0.985),  # .84
        ((300, 20, 40), 0.1, 0.6, 0.3, 20, 0.985),
        ((60, 60, 60), 0.002, 0.5, 0.05, 3, 0.985),  # .90
        ((300, 300, 20), 0.02, 0.9, 1.0, 3, 0.99),  # .89
        ((20, 20, 20), 0.1, 0.3, 0.3, 20, 0.99),
        ((300, 300, 300), 0.02, 0.6, 0.3, 3, 0.975),
    ],
)
def test_intervals_of_clustered_positions_cover(sizes, c, t, theta, concentration, most):
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        rates = (c, (1 - theta) * c + theta * t, t)
        rates_of_documents = [sample_rates(n, rate, concentration, rng) for n, rate in zip(sizes, rates, strict=True)]
        sides = [
            marks(rates_of_sample, rng, longest)
            for rates_of_sample, longest in zip(rates_of_documents, (40, 40, 10), strict=True)
        ]
        held.append(is_held(theta, corrected_rate(*sides, Permutation(sizes[:2]), 0.95)))
    assert 0.925 <= np.mean(held) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("prompts", "texts"), [(40, (1, 1)), (20, (1, 5)), (5, (20, 20))])
@pytest.mark.parametrize("theta", [0.0, 0.2])
def test_common_errors_of_paired_documents_cancel(prompts, texts, theta):
    """Without a limit on ends that are far away, coverage with 5 prompts and theta = .2 is .88."""
    rng, held, widths = np.random.default_rng(2), [], []
    names = [np.repeat(np.arange(1, prompts + 1), values) for values in texts]
    permutation = Permutation((len(names[0]), len(names[1])), np.concatenate(names))
    c, s, t = 0.05, 0.05 + theta * 0.55, 0.6
    for _ in range(400):
        of_prompt = sample_rates(prompts, s, 6, rng)
        shared = [of_prompt[names[0] - 1] * c / s, of_prompt[names[1] - 1]]
        sides = [*(marks(values, rng) for values in shared), marks(sample_rates(80, t, 8, rng), rng)]
        interval = corrected_rate(*sides, permutation, 0.95)
        held.append(is_held(theta, interval))
        unpaired_interval = corrected_rate(*sides, Permutation(permutation.sizes), 0.95)
        widths.append((interval[2] - interval[1]) / (unpaired_interval[2] - unpaired_interval[1]))
    assert np.mean(held) >= 0.925
    # Texts of one prompt are one unit: with fewer units, the interval may be wider.
    assert texts != (1, 1) or np.median(widths) < 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("n", "candidates"), [(20, 100), (100, 20), (200, 200)])
@pytest.mark.parametrize("theta", [0.0, 0.3])
def test_intervals_cover_if_the_damaged_documents_are_those_of_the_reference(n, candidates, theta):
    """As in practice, more damage is found in documents in which more is marked when they are intact."""
    rng, held = np.random.default_rng(3), []
    c, t, concentration = 0.05, 0.6, 5
    s = (1 - theta) * c + theta * t
    for _ in range(400):
        place = rng.uniform(size=n)
        reference, damaged = (beta.ppf(place, rate * concentration, (1 - rate) * concentration) for rate in (c, t))
        sides = [marks(rates, rng) for rates in (reference, sample_rates(candidates, s, concentration, rng))]
        interval = corrected_rate(*sides, marks(damaged, rng, 10), Permutation((n, candidates)), 0.95)
        held.append(is_held(theta, interval))
    assert 0.925 <= np.mean(held) <= 0.99


@pytest.mark.slow
def test_a_useless_detector_rarely_has_a_bounded_interval():
    rng, bounded = np.random.default_rng(3), 0
    for _ in range(400):
        sides = [marks(sample_rates(n, 0.05, 10, rng), rng) for n in (40, 40, 40)]
        bounded += bool(np.isfinite(corrected_rate(*sides, Permutation((40, 40)), 0.95)[1]))
    assert bounded <= 20  # 2.5 % would be 10
