"""Mean similarities of texts: all pairs by loops, the jackknife, and the excess over real text."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from macroscope.statistics.similarity import (
    Similarities,
    estimate_excess,
    estimate_pair,
    make_collection,
    measure_similarities,
)

PROMPTS = 12


def made(rng, prompts, shift=0.0, features=5):
    """Texts with the given prompts: vectors, prompts."""
    return rng.normal(shift, 1, (len(prompts), features)), np.array(prompts)


def collected(texts):
    return [make_collection(sparse.csr_matrix(vectors), prompts, PROMPTS) for vectors, prompts in texts]


def loop(first, second, is_same_collection, on_same_prompt):
    """Mean over prompts, or pairs of prompts, of the mean similarity of their pairs of texts."""
    by_prompts = {}
    for (i, p), (j, q) in product(enumerate(first[1]), enumerate(second[1])):
        if (p == q) == on_same_prompt and not (is_same_collection and i == j):
            by_prompts.setdefault((p, q), []).append(first[0][i] @ second[0][j])
    return np.mean([np.mean(values) for values in by_prompts.values()]) if by_prompts else np.nan


@pytest.fixture
def texts():
    rng = np.random.default_rng(0)
    return [made(rng, [0, 0, 1, 2, 3, 3, 3, 5]), made(rng, [1, 1, 2, 3, 4, 6]), made(rng, [0, 1, 2])]


def without(texts, prompt):
    return [(vectors[prompts != prompt], prompts[prompts != prompt]) for vectors, prompts in texts]


def test_sums_of_vectors_give_the_means_over_all_pairs(texts):
    similarities = measure_similarities(collected(texts))
    for row, present in enumerate([texts, *(without(texts, prompt) for prompt in range(PROMPTS))]):
        for i, j in product(range(3), repeat=2):
            for values, on_same in ((similarities.other_prompts, False), (similarities.same_prompt, True)):
                expected = loop(present[i], present[j], i == j, on_same)
                assert values[row, i, j] == pytest.approx(expected, nan_ok=True), (row, i, j, on_same)
    assert similarities.prompts.tolist() == [5, 5, 3]
    assert similarities.shared.tolist() == [[2, 3, 3], [3, 1, 2], [3, 2, 0]]


def test_the_interval_is_the_jackknife_of_the_square_root():
    """With one feature that is 1 in the other collection, the similarity on the same prompt is an ordinary mean."""
    x = np.arange(1.0, 13.0)
    texts = [(x[:, None], np.arange(12)), (np.ones((12, 1)), np.arange(12))]
    _, same, _ = estimate_pair(measure_similarities(collected(texts)), 0, 1, 0.95)
    roots = np.array([np.sqrt(np.delete(x, k).mean()) for k in range(12)])
    half = 2.200985 * np.sqrt(11 / 12 * ((roots - np.sqrt(6.5)) ** 2).sum())  # t with 11 degrees of freedom
    expected = (6.5, (np.sqrt(6.5) - half) ** 2, (np.sqrt(6.5) + half) ** 2)
    assert (same.value, same.ci_low, same.ci_high) == pytest.approx(expected, abs=1e-5)


def test_distances_are_those_of_the_mean_vectors():
    rng = np.random.default_rng(1)
    vectors = [rng.normal(shift, 0.1, (400, 3)) for shift in (0.0, 0.0, 1.0)]
    collections = [make_collection(sparse.csr_matrix(v), np.arange(400), 400) for v in vectors]
    distances = measure_similarities(collections).distances
    assert distances[0, 1] == pytest.approx(0, abs=0.01)
    assert distances[0, 2] == pytest.approx(3, abs=0.1)
    assert not np.diag(distances).any()


def test_tests_and_intervals_never_contradict_each_other():
    rng = np.random.default_rng(2)
    for shift in np.linspace(0, 0.9, 10):
        texts = [made(rng, np.arange(12), 1 + shift), made(rng, np.arange(12), 1), made(rng, np.arange(12), 1)]
        for estimate in estimate_excess(measure_similarities(collected(texts)), 0, 2, 0.95):
            assert (estimate.p_value < 0.05) == (not estimate.ci_low < 0 < estimate.ci_high)


def test_what_pairs_do_not_exist_for_is_undefined(texts):
    lonely = [(np.ones((1, 5)), np.array([0])), (np.ones((1, 5)), np.array([1]))]
    similarities = measure_similarities(collected(lonely))
    across, same, effect = estimate_pair(similarities, 0, 1, 0.95)
    assert across.value == 5
    assert np.isnan([across.ci_low, same.value, effect.value]).all()
    assert np.isnan([estimate.value for estimate in estimate_excess(similarities, 0, 1, 0.95)]).all()


def test_equal_texts_have_an_interval_of_no_width():
    alike = [(np.full((size, 5), 0.3), np.arange(size)) for size in (12, 10)]
    excess, _ = estimate_excess(measure_similarities(collected(alike)), 0, 1, 0.95)
    assert (excess.value, excess.p_value) == (0, 1)
    assert (excess.ci_low, excess.ci_high) == pytest.approx((0, 0), abs=1e-12)


def test_similarities_of_many_texts_need_no_pairs():
    """10,000 texts of a system, whose matrix of pairs would have 10^8 entries."""
    vectors = sparse.random(10_000, 500, density=0.01, format="csr", rng=np.random.default_rng(3))
    similarities = measure_similarities([make_collection(vectors, np.arange(10_000), 10_000)])
    assert isinstance(similarities, Similarities)
    total = np.asarray(vectors.sum(axis=0)).ravel()
    pairs = total @ total - vectors.multiply(vectors).sum()
    assert similarities.other_prompts[0, 0, 0] == pytest.approx(pairs / (10_000 * 9_999))
