"""Intervals, p-values and floors of divergences, against simulated collections whose truth is known."""

import numpy as np
import pytest
from scipy import sparse

from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot, permuted
from macroscope.statistics.divergences import divergences, smoothed
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import Permutation

OPTIONS = DivergenceOptions(permutations=199)
NAMES = list(divergences(OPTIONS.frontier))


def drawn(p, n, rng):
    return one_hot(rng.choice(len(p), n, p=p), len(p))


def rows_of(reference, candidate, seed=0, options=OPTIONS, resamples=450):
    resampling = Resampling(resamples=resamples, permutations=options.permutations, seed=seed)
    return {row[0]: row[1:] for row in compare_categories(reference, candidate, options, resampling)}


def test_value_is_the_plug_in_and_the_mean_over_categorisations():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    sides = [[drawn(p, 60, rng), drawn(p, 60, rng)], [drawn(q, 50, rng), drawn(q, 50, rng)]]
    rows = rows_of(*sides)
    for name, function in divergences(OPTIONS.frontier).items():
        each = [function(*(smoothed(np.asarray(side[s].sum(axis=0)).ravel(), 1.0) for side in sides)) for s in range(2)]
        assert rows[name][0] == pytest.approx(np.mean(each), abs=1e-12)
        assert rows[f"{name}_seed_sd"][0] == pytest.approx(np.std(each, ddof=1), abs=1e-12)


def test_exchanges_are_of_documents():
    """Both sides keep their numbers of documents, and every document all its categories."""
    rng = np.random.default_rng(1)
    reference = [sparse.csr_matrix(rng.poisson(1.0, (6, 4)).astype(float))]
    candidate = [sparse.csr_matrix(rng.poisson(1.0, (3, 4)).astype(float))]
    rows = np.vstack([reference[0].toarray(), candidate[0].toarray()])
    seen = [
        pair
        for first, second in permuted(reference, candidate, Permutation((6, 3)), 100, rng)
        for pair in zip(first[0], second[0], strict=True)
    ]
    assert len(seen) == 84  # all divisions of nine documents into six and three
    for first, second in seen:
        np.testing.assert_allclose(first + second, rows.sum(axis=0))
    assert len({tuple(first) for first, _ in seen}) > 40


def test_p_values_are_uniform_where_nothing_differs():
    p = np.random.default_rng(2).dirichlet(np.full(12, 3.0))
    found = []
    for seed in range(150):
        rng = np.random.default_rng([2, seed])
        rows = rows_of([drawn(p, 60, rng)], [drawn(p, 40, rng)], seed, DivergenceOptions(permutations=99), 100)
        found.append([rows[name][3] for name in NAMES])
    # The share below 5 % of 150 simulations is within four standard errors of 5 %, of those below 50 % likewise.
    for level in (0.05, 0.5):
        shares = (np.array(found) <= level).mean(axis=0)
        assert (np.abs(shares - level) < 4 * np.sqrt(level * (1 - level) / 150)).all(), shares


def test_power_and_coverage_where_something_differs():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(20, 5.0))
    q = p * np.exp(0.6 * rng.standard_normal(20))
    q /= q.sum()
    truth = {name: float(function(p, q)) for name, function in divergences(OPTIONS.frontier).items()}
    held, rejected, values, biases = [], 0, [], []
    for seed in range(60):
        rng = np.random.default_rng([3, seed])
        rows = rows_of([drawn(p, 300, rng)], [drawn(q, 300, rng)], seed)
        held.append([rows[f"{name}_corrected"][1] <= truth[name] <= rows[f"{name}_corrected"][2] for name in NAMES])
        rejected += rows["jensen_shannon"][3] <= 0.05
        values.append(rows["jensen_shannon"][0])
        biases.append(rows["jensen_shannon_bias"][0])
    # 95 % intervals: of 60, some 57 hold the truth; 50 or fewer would happen once in a thousand times.
    assert (np.sum(held, axis=0) > 50).all(), np.sum(held, axis=0)
    assert rejected > 50
    # The plug-in value is too large, and most of that is known.
    bias = np.mean(values) - truth["jensen_shannon"]
    assert 0.4 * bias < np.mean(biases) < 1.5 * bias


def test_corrected_holds_nothing_where_nothing_differs():
    p = np.full(10, 0.1)
    held = 0
    for seed in range(40):
        rng = np.random.default_rng([4, seed])
        rows = rows_of([drawn(p, 200, rng)], [drawn(p, 200, rng)], seed)
        held += rows["jensen_shannon_corrected"][1] == 0.0
        assert rows["jensen_shannon"][0] > 0
        low, high = rows["jensen_shannon_floor"][1:3]
        assert low <= rows["jensen_shannon_floor"][0] <= high
    assert held >= 35


def test_floor_is_at_the_size_of_the_halves():
    """Real text against itself at n/2 looks worse than at n: the floor stands beside the value at the same size."""
    p = np.full(30, 1 / 30)
    found = []
    for seed in range(8):
        rng = np.random.default_rng([5, seed])
        rows = rows_of([drawn(p, 400, rng)], [drawn(p, 400, rng)], seed, resamples=100)
        found.append([rows[f"forward_kl{end}"][0] for end in ("", "_floor", "_at_half")])
    value, floor, half = np.mean(found, axis=0)
    assert floor > 1.5 * value
    assert half == pytest.approx(floor, rel=0.2)


def test_a_side_without_documents_is_undefined():
    nothing = [sparse.csr_matrix((0, 5))]
    rows = rows_of(nothing, [one_hot(np.array([1, 2]), 5)])
    assert all(np.isnan(row[0]) for row in rows.values())


def test_one_side_ten_times_the_other():
    rng = np.random.default_rng(6)
    p = np.full(10, 0.1)
    rows = rows_of([drawn(p, 500, rng)], [drawn(p, 50, rng)])
    assert rows["jensen_shannon"][3] > 0.01
    assert rows["jensen_shannon_at_half"][0] == pytest.approx(rows["jensen_shannon_floor"][0], rel=0.6)


def test_sides_without_a_category_in_common_have_no_finite_kl():
    """What no collection on the path can have is not put down as the last one of the path."""
    rows = rows_of([one_hot(np.zeros(100, int), 2)], [one_hot(np.ones(100, int), 2)])
    assert np.isfinite(rows["forward_kl"][0])
    assert np.isnan(rows["forward_kl_corrected"][:3]).all()
    value, low, high, _ = rows["jensen_shannon_corrected"]
    assert value == pytest.approx(np.log(2), abs=0.01)
    assert high == pytest.approx(np.log(2))
    assert 0.4 < low < np.log(2)
