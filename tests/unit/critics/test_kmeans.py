"""Tests of k-means with bounds against k-means with all distances."""

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

from macroscope.critics.clusters import kmeans
from macroscope.critics.clusters.kmeans import assign_nearest, k_means


def vectors_of(kinds, each, width=12, seed=0):
    """Sample vectors around this many centres, which overlap enough to need many iterations."""
    rng = np.random.default_rng(seed)
    centres = 1.5 * rng.standard_normal((kinds, width))
    return (np.repeat(centres, each, axis=0) + rng.standard_normal((kinds * each, width))).astype(np.float32)


def lloyd(vectors, centroids):
    """Run Lloyd's algorithm by its definition, until nothing changes."""
    vectors, labels = vectors.astype(float), None
    for iteration in range(500):
        distances = ((vectors[:, None] - centroids) ** 2).sum(axis=2)
        if labels is not None and (distances.argmin(axis=1) == labels).all():
            return centroids, iteration
        labels = distances.argmin(axis=1)
        centroids = np.stack([vectors[labels == k].mean(axis=0) for k in range(len(centroids))])
    raise AssertionError("no end")


@pytest.mark.parametrize("clusters", [2, 15, 60])
def test_centroids_are_those_of_all_distances(clusters, monkeypatch):
    vectors = vectors_of(20, 60)
    starts = []
    sample = kmeans._sample_centres
    monkeypatch.setattr(
        kmeans, "_sample_centres", lambda vectors, uniforms: starts.append(sample(vectors, uniforms)) or starts[-1]
    )
    centroids = k_means(vectors[:1000], clusters, 1, seed=3)  # few enough to sample centres from all
    expected, iterations = lloyd(vectors[:1000], vectors[:1000][starts[0]])
    assert iterations > 5
    np.testing.assert_allclose(centroids, expected, atol=1e-5)


def test_the_number_of_threads_and_other_starts(monkeypatch):
    vectors = vectors_of(20, 60)
    monkeypatch.setattr(kmeans, "_PRODUCTS_IN_PART", 1000)  # many parts
    results = []
    for cores in (1, 3):
        monkeypatch.setattr(kmeans, "usable_cores", lambda cores=cores: cores)
        results.append(k_means(vectors, 20, 1, seed=1))
    np.testing.assert_array_equal(*results)
    errors = [
        ((vectors - centroids[assign_nearest(vectors, centroids)]) ** 2).sum()
        for centroids in (results[0], k_means(vectors, 20, 5, seed=1))
    ]
    assert errors[1] < errors[0]


def test_centres_are_sampled_as_by_scikit_learn():
    vectors = vectors_of(20, 60)
    _, expected = kmeans_plusplus(vectors, 40, random_state=np.random.RandomState(7), n_local_trials=1)
    np.testing.assert_array_equal(kmeans._sample_centres(vectors, np.random.RandomState(7).random_sample(40)), expected)


def test_as_many_clusters_as_unique_vectors():
    """Centres are sampled from a subset of mostly equal vectors; the other vectors get clusters nevertheless."""
    vectors = np.repeat(np.eye(12, dtype=np.float32), [20_000, *[1] * 11], axis=0)
    centroids = k_means(vectors, 12, 1, seed=0)
    np.testing.assert_array_equal(centroids[np.argsort(-centroids @ np.arange(12, 0, -1))], np.eye(12))


def test_more_clusters_than_unique_vectors():
    centroids = k_means(np.repeat(np.eye(3, dtype=np.float32), 10, axis=0), 5, 1, seed=0)
    assert centroids.shape == (5, 3)
    assert {tuple(row) for row in centroids} == {tuple(row) for row in np.eye(3)}
