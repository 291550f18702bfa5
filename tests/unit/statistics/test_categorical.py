"""Intervals, p-values and floors of divergences, against simulated collections whose truth is known."""

import numpy as np
import pytest
from scipy import sparse

from macroscope.options import Resampling
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot, permute_counts
from macroscope.statistics.divergences import divergences, smooth_counts
from macroscope.statistics.permutation_groups import Permutation

OPTIONS = DivergenceOptions(permutations=199)
NAMES = list(divergences(OPTIONS.frontier))


def sample(p, n, rng):
    return one_hot(rng.choice(len(p), n, p=p), len(p))


def rows_of(reference, candidate, seed=0, options=OPTIONS, resamples=450):
    resampling = Resampling(resamples=resamples, permutations=options.permutations, seed=seed)
    estimates = compare_categories(reference, candidate, options, resampling)
    return {estimate.statistic: estimate for estimate in estimates}


def test_value_is_the_plug_in_and_the_mean_over_categorisations():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    sides = [[sample(p, 60, rng), sample(p, 60, rng)], [sample(q, 50, rng), sample(q, 50, rng)]]
    rows = rows_of(*sides)
    for name, function in divergences(OPTIONS.frontier).items():
        each = [
            function(*(smooth_counts(np.asarray(counts[s].sum(axis=0)).ravel(), 1.0) for counts in sides))
            for s in range(2)
        ]
        assert rows[name].value == pytest.approx(np.mean(each), abs=1e-12)
        assert rows[f"{name}_seed_sd"].value == pytest.approx(np.std(each, ddof=1), abs=1e-12)


def test_permutations_are_of_documents():
    """Both samples keep their numbers of documents, and every document all its categories."""
    rng = np.random.default_rng(1)
    reference = [sparse.csr_matrix(rng.poisson(1.0, (6, 4)).astype(float))]
    candidate = [sparse.csr_matrix(rng.poisson(1.0, (3, 4)).astype(float))]
    rows = np.vstack([reference[0].toarray(), candidate[0].toarray()])
    seen = [
        pair
        for first, second in permute_counts(reference, candidate, Permutation((6, 3)), 100, rng)
        for pair in zip(first[0], second[0], strict=True)
    ]
    assert len(seen) == 84  # all divisions of nine documents into six and three
    for first, second in seen:
        np.testing.assert_allclose(first + second, rows.sum(axis=0))
    assert len({tuple(first) for first, _ in seen}) > 40


@pytest.mark.slow
def test_p_values_are_uniform_if_nothing_differs():
    p = np.random.default_rng(2).dirichlet(np.full(12, 3.0))
    p_values = []
    for seed in range(150):
        rng = np.random.default_rng([2, seed])
        rows = rows_of([sample(p, 60, rng)], [sample(p, 40, rng)], seed, DivergenceOptions(permutations=99), 100)
        p_values.append([rows[name].p_value for name in NAMES])
    # The share below 5 % of 150 simulations is within four standard errors of 5 %, of those below 50 % likewise.
    for level in (0.05, 0.5):
        shares = (np.array(p_values) <= level).mean(axis=0)
        assert (np.abs(shares - level) < 4 * np.sqrt(level * (1 - level) / 150)).all(), shares


@pytest.mark.slow
def test_power_and_coverage_of_a_difference():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(20, 5.0))
    q = p * np.exp(0.6 * rng.standard_normal(20))
    q /= q.sum()
    truth = {name: float(function(p, q)) for name, function in divergences(OPTIONS.frontier).items()}
    held, rejected, values, biases = [], 0, [], []
    for seed in range(60):
        rng = np.random.default_rng([3, seed])
        rows = rows_of([sample(p, 300, rng)], [sample(q, 300, rng)], seed)
        held.append(
            [rows[f"{name}_corrected"].ci_low <= truth[name] <= rows[f"{name}_corrected"].ci_high for name in NAMES]
        )
        rejected += rows["jensen_shannon"].p_value <= 0.05
        values.append(rows["jensen_shannon"].value)
        biases.append(rows["jensen_shannon_bias"].value)
    # 95 % intervals: of 60, some 57 hold the truth; 50 or fewer would happen once in a thousand times.
    assert (np.sum(held, axis=0) > 50).all(), np.sum(held, axis=0)
    assert rejected > 50
    # The plug-in value is too large, and most of the bias is estimated.
    bias = np.mean(values) - truth["jensen_shannon"]
    assert 0.4 * bias < np.mean(biases) < 1.5 * bias


@pytest.mark.slow
def test_corrected_interval_holds_0_if_nothing_differs():
    p = np.full(10, 0.1)
    held = 0
    for seed in range(40):
        rng = np.random.default_rng([4, seed])
        rows = rows_of([sample(p, 200, rng)], [sample(p, 200, rng)], seed)
        held += rows["jensen_shannon_corrected"].ci_low == 0.0
        assert rows["jensen_shannon"].value > 0
        floor = rows["jensen_shannon_floor"]
        assert floor.ci_low <= floor.value <= floor.ci_high
    assert held >= 35


@pytest.mark.slow
def test_floor_is_at_the_size_of_the_halves():
    """Real text against itself has a larger value at n/2 than at n: the floor is comparable with the value at half."""
    p = np.full(30, 1 / 30)
    values = []
    for seed in range(8):
        rng = np.random.default_rng([5, seed])
        rows = rows_of([sample(p, 400, rng)], [sample(p, 400, rng)], seed, resamples=100)
        values.append([rows[f"forward_kl{end}"].value for end in ("", "_floor", "_at_half")])
    value, floor, half = np.mean(values, axis=0)
    assert floor > 1.5 * value
    assert half == pytest.approx(floor, rel=0.2)


def test_an_empty_sample_is_undefined():
    nothing = [sparse.csr_matrix((0, 5))]
    rows = rows_of(nothing, [one_hot(np.array([1, 2]), 5)])
    assert all(np.isnan(estimate.value) for estimate in rows.values())


def test_a_sample_ten_times_as_large_as_the_other():
    rng = np.random.default_rng(6)
    p = np.full(10, 0.1)
    rows = rows_of([sample(p, 500, rng)], [sample(p, 50, rng)])
    assert rows["jensen_shannon"].p_value > 0.01
    assert rows["jensen_shannon_at_half"].value == pytest.approx(rows["jensen_shannon_floor"].value, rel=0.6)


def test_samples_without_a_common_category_have_no_finite_kl():
    """A value beyond the path is undefined, not that of the end of the path."""
    rows = rows_of([one_hot(np.zeros(100, int), 2)], [one_hot(np.ones(100, int), 2)])
    assert np.isfinite(rows["forward_kl"].value)
    kl, jensen_shannon = rows["forward_kl_corrected"], rows["jensen_shannon_corrected"]
    assert np.isnan([kl.value, kl.ci_low, kl.ci_high]).all()
    assert jensen_shannon.value == pytest.approx(np.log(2), abs=0.01)
    assert jensen_shannon.ci_high == pytest.approx(np.log(2))
    assert 0.4 < jensen_shannon.ci_low < np.log(2)
