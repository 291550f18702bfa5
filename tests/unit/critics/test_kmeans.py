"""k-means that leaves distances out, against the one that computes them all."""

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

from macroscope.critics.clusters import blocks, kmeans
from macroscope.critics.clusters.kmeans import k_means, nearest


def vectors_of(kinds, each, width=12, seed=0):
    """Vectors around so many centres, near enough to each other for k-means to take its time."""
    rng = np.random.default_rng(seed)
    centres = 1.5 * rng.standard_normal((kinds, width))
    return (np.repeat(centres, each, axis=0) + rng.standard_normal((kinds * each, width))).astype(np.float32)


def lloyd(vectors, centroids):
    """Lloyd's algorithm by its definition, until nothing changes."""
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
    spread = kmeans._spread
    monkeypatch.setattr(kmeans, "_spread", lambda some, draws: starts.append(spread(some, draws)) or starts[-1])
    found = k_means(vectors[:1000], clusters, 1, seed=3)  # so few that all are seeded among
    expected, iterations = lloyd(vectors[:1000], vectors[:1000][starts[0]])
    assert iterations > 5
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_number_of_threads_and_other_starts(monkeypatch):
    vectors = vectors_of(20, 60)
    monkeypatch.setattr(blocks, "_PRODUCTS_IN_PART", 1000)  # many parts
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(blocks, "usable_cores", lambda cores=cores: cores)
        found.append(k_means(vectors, 20, 1, seed=1))
    np.testing.assert_array_equal(*found)
    errors = [
        ((vectors - centroids[nearest(vectors, centroids)]) ** 2).sum()
        for centroids in (found[0], k_means(vectors, 20, 5, seed=1))
    ]
    assert errors[1] < errors[0]


def test_centres_are_drawn_as_by_scikit_learn():
    vectors = vectors_of(20, 60)
    _, expected = kmeans_plusplus(vectors, 40, random_state=np.random.RandomState(7), n_local_trials=1)
    np.testing.assert_array_equal(kmeans._spread(vectors, np.random.RandomState(7).random_sample(40)), expected)


def test_as_many_clusters_as_different_vectors():
    """Centres are looked for among few of them, of which most are the same: the others are found nevertheless."""
    vectors = np.repeat(np.eye(12, dtype=np.float32), [20_000, *[1] * 11], axis=0)
    found = k_means(vectors, 12, 1, seed=0)
    np.testing.assert_array_equal(found[np.argsort(-found @ np.arange(12, 0, -1))], np.eye(12))


def test_more_clusters_than_different_vectors():
    found = k_means(np.repeat(np.eye(3, dtype=np.float32), 10, axis=0), 5, 1, seed=0)
    assert found.shape == (5, 3)
    assert {tuple(row) for row in found} == {tuple(row) for row in np.eye(3)}
