"""Exact k-means (Lloyd's algorithm) that computes only the distances that may change an assignment.

Each vector has the distance to its centroid, and a lower bound on the distance to all other centroids. The bound
decreases by the largest move of a centroid (Hamerly 2010). A few centroids, those that gained or lost a vector, move
much farther than the rest: their distances to all vectors are computed, and the bound decreases only by the largest
move of the rest. A vector whose assignment is then uncertain is compared with the rest as well. The number of the few
minimises the number of distances.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from macroscope.arrays import mapped, usable_cores
from macroscope.statistics.document_features import Array

# ---- blocks ----------------------------------------------------------------------------------------------------------
# Processing in blocks of vectors that do not fit into memory and are in files (`macroscope.arrays`).
#
# A million embeddings of 384 numbers take 1.5 GB, and so does every array derived from all of them.

Vectors = NDArray[np.float32]
ROWS = 1 << 16
"""Number of rows of a block."""
_MOST_IN_PART, _PRODUCTS_IN_PART = 1 << 13, 1 << 19
"""Largest number of rows of a part, and of products computed at once: 2 MB, which fit into a processor's cache."""


def blocks(rows: int) -> Iterator[slice]:
    """Yield the slices of blocks that cover this many rows."""
    for start in range(0, rows, ROWS):
        yield slice(start, min(start + ROWS, rows))


class Threads:
    """A pool of threads that process parts of rows in parallel; results do not depend on the number of threads."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def map_parts(self, function: Callable[[slice], None], rows: int, columns: int) -> None:
        """Call a function on every part of the rows; it multiplies the rows with this many columns."""
        size = min(_MOST_IN_PART, max(1, _PRODUCTS_IN_PART // columns))
        list(self._pool.map(function, [slice(start, start + size) for start in range(0, rows, size)]))


@contextmanager
def threads() -> Iterator[Threads]:
    """Open a pool with one thread per usable core.

    Meanwhile BLAS is limited to one thread: nested threads would wait for each other, for long on a busy machine.
    """
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(usable_cores()) as pool:
        yield Threads(pool)


def map_blocks(function: Callable[[Vectors], Vectors], vectors: Vectors) -> Vectors:
    """Apply a function that maps rows to rows of the same width, block by block."""
    result = mapped(vectors.shape, np.float32)
    for block in blocks(len(vectors)):
        result[block] = function(vectors[block])
    return result


def take_rows(vectors: Vectors, indices: NDArray[np.int64]) -> Vectors:
    """Return the rows with these indices."""
    result = mapped((len(indices), vectors.shape[1]), np.float32)
    for block in blocks(len(indices)):
        result[block] = vectors[indices[block]]
    return result


def count_unique_rows(collections: Sequence[Vectors]) -> int:
    """Count the unique rows of all collections together: there are no more clusters than these.

    Rows are compared by a hash; only rows with a repeated hash are compared in full, so the count is exact.
    """
    parts = [_hashes(vectors[selection]) for vectors in collections for selection in blocks(len(vectors))]
    hashes = np.concatenate([np.empty(0, np.uint64), *parts])
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    is_repeated = np.split(counts[inverse] > 1, np.cumsum([len(vectors) for vectors in collections])[:-1])
    repeated = np.concatenate([vectors[selection] for vectors, selection in zip(collections, is_repeated, strict=True)])
    return int((counts == 1).sum()) + len(np.unique(repeated, axis=0))


def _hashes(vectors: Vectors) -> NDArray[np.uint64]:
    """Return a multilinear hash of each row; equal rows have the same."""
    bits = np.ascontiguousarray(vectors + np.float32(0)).view(np.uint32)  # turns -0 into 0, which is equal
    factors = np.random.default_rng(0).integers(0, 2**64, bits.shape[1], dtype=np.uint64)
    return np.asarray((bits * factors).sum(axis=1, dtype=np.uint64))


# ---- kmeans ----------------------------------------------------------------------------------------------------------

ITERATIONS = 500
_MOST_SEEDING, _FEWEST_SEEDING = 8, 1000
"""Number of vectors per cluster, and smallest number of vectors, from which k-means++ samples centres."""
Integers = NDArray[np.int64]
Labels = NDArray[np.int32]


def k_means(vectors: Vectors, clusters: int, restarts: int, seed: int) -> Vectors:
    """Return the centroids of the best of several starts from k-means++, moved until no vector changes its cluster.

    Each centre has one trial, as in Arthur and Vassilvitskii (2007), among a random subset if there are many vectors:
    the several trials among all vectors, scikit-learn's default, take most of the time and hardly change results.
    """
    results = []
    with threads() as pool:
        for start in range(restarts):
            random = np.random.RandomState([seed, start])
            most = min(len(vectors), max(_MOST_SEEDING * clusters, _FEWEST_SEEDING))
            subset = vectors if most == len(vectors) else vectors[random.choice(len(vectors), most, replace=False)]
            centroids = subset[_sample_centres(subset, random.random_sample(clusters))]
            results.append(_Lloyd(vectors, centroids, pool).run())
    return min(results, key=lambda result: result[0])[1]


def assign_nearest(vectors: Vectors, centroids: Vectors) -> Labels:
    """Return the nearest centroid of each vector."""
    scores = _initial_scores(len(vectors))
    _compare(centroids @ vectors.T, _halves(centroids), np.arange(len(centroids), dtype=np.int32), *scores)
    return scores[2]


class _Lloyd:
    """State of Lloyd's algorithm: vectors, centroids, labels, and bounds on distances."""

    def __init__(self, vectors: Vectors, centroids: Vectors, pool: Threads) -> None:
        self.vectors, self.centroids, self.threads = vectors, centroids, pool
        self.halves = _halves(vectors)
        self.labels = np.full(len(vectors), -1, np.int32)
        self.distances = np.full(len(vectors), np.inf, np.float32)  # distance to the centroid of the label
        self.bounds = np.zeros(len(vectors), np.float32)  # lower bound on the distance to all other centroids
        self.sums, self.counts = np.zeros(centroids.shape), np.zeros(len(centroids), np.int64)

    def run(self) -> tuple[float, Vectors]:
        """Iterate to convergence; return the sum of squared distances to the centroids, and the centroids."""
        moves = np.full(len(self.centroids), np.inf, np.float32)
        for _ in range(ITERATIONS):
            before = self.labels.copy()
            self._assign(moves)
            changed = np.flatnonzero(self.labels != before)
            if not len(changed):
                break
            _recount(self.vectors, changed, before[changed], self.labels[changed], self.sums, self.counts)
            self._fill_empty_clusters()
            moves = self._move()
        return float((self.distances.astype(float) ** 2).sum()), self.centroids

    def _assign(self, moves: Vectors) -> None:
        """Assign each vector to the nearest centroid, after the centroids have moved this far."""
        order = np.argsort(-moves, kind="stable").astype(np.int32)
        few, decrease = self._split_centroids(moves[order])
        centroids = self.centroids[order]
        halves = _halves(centroids)

        def assign_part(part: slice) -> None:
            vectors, distances, bounds, labels = (
                self.vectors[part],
                self.distances[part],
                self.bounds[part],
                self.labels[part],
            )
            first, second, number = scores = _initial_scores(len(vectors))
            _compare(centroids[:few] @ vectors.T, halves[:few], order[:few], *scores)
            bounds -= decrease
            doubtful = np.flatnonzero(bounds < distances)
            if few < len(order) and len(doubtful):
                compared = first[doubtful], second[doubtful], number[doubtful]
                _compare(centroids[few:] @ vectors[doubtful].T, halves[few:], order[few:], *compared)
                first[doubtful], second[doubtful], number[doubtful] = compared
            bounds[doubtful] = np.inf
            _update_labels(vectors, self.halves[part], self.centroids, *scores, bounds, labels, distances)

        self.threads.map_parts(assign_part, len(self.vectors), len(self.centroids))

    def _split_centroids(self, moves: Vectors) -> tuple[int, np.float32]:
        """Return the number of centroids to compare with all vectors, and the largest move of the rest.

        Parameters
        ----------
        moves
            Distances that the centroids have moved, the largest first.
        """
        decreases = np.append(moves, np.float32(0))
        doubtful = np.searchsorted(np.sort(self.bounds - self.distances), decreases)
        few = np.arange(len(decreases))
        distances = few * len(self.vectors) + (len(moves) - few) * doubtful
        best = len(moves) - int(np.argmin(distances[::-1]))
        return best, decreases[best]

    def _fill_empty_clusters(self) -> None:
        """Assign to each empty cluster the vector farthest from its centroid, out of clusters with several vectors."""
        for empty in np.flatnonzero(self.counts == 0):
            row = np.where(self.counts[self.labels] > 1, self.distances, 0).argmax(axis=0, keepdims=True)
            if self.distances[row] == 0:
                break  # fewer unique vectors than clusters
            before = self.labels[row]
            self.labels[row] = empty
            _recount(self.vectors, row, before, self.labels[row], self.sums, self.counts)
            self.distances[row] = self.bounds[row] = 0

    def _move(self) -> Vectors:
        """Move the centroids to the means of their vectors; return the distance that each has moved."""
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        before = self.centroids
        self.centroids = np.where(self.counts[:, None] > 0, means, before).astype(np.float32)
        moves = np.linalg.norm(self.centroids - before, axis=1)

        def measure(part: slice) -> None:
            _measure(self.vectors[part], self.centroids, moves, self.labels[part], self.distances[part])

        self.threads.map_parts(measure, len(self.vectors), self.vectors.shape[1])
        return moves


def _halves(vectors: Vectors) -> Vectors:
    return np.einsum("ij,ij->i", vectors, vectors) / 2


def _initial_scores(rows: int) -> tuple[Vectors, Vectors, Labels]:
    """Return initial scores of the nearest and second nearest centroid of vectors, and the number of the nearest."""
    return np.full(rows, np.inf, np.float32), np.full(rows, np.inf, np.float32), np.full(rows, -1, np.int32)


@njit(cache=True, nogil=True)
def _compare(
    products: Vectors, halves: Vectors, numbers: Labels, first: Vectors, second: Vectors, number: Labels
) -> None:  # pragma: no cover - compiled
    """Compare vectors with further centroids by the score |c|^2 / 2 - x c, which is smaller for nearer ones."""
    for row in range(len(products)):
        half, centroid = halves[row], numbers[row]
        for i in range(len(first)):  # innermost, so that several vectors are compared at once
            score = half - products[row, i]
            nearer = score < first[i]
            farther = first[i] if nearer else score
            second[i] = farther if farther < second[i] else second[i]
            first[i] = score if nearer else first[i]
            number[i] = centroid if nearer else number[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _square(x: Vectors, y: Vectors) -> np.float32:  # pragma: no cover - compiled
    """Return the squared distance."""
    total = np.float32(0)
    for i in range(len(x)):
        total += (x[i] - y[i]) ** 2
    return total


@njit(cache=True, nogil=True)
def _update_labels(
    vectors: Vectors,
    halves: Vectors,
    centroids: Vectors,
    first: Vectors,
    second: Vectors,
    number: Labels,
    bounds: Vectors,
    labels: Labels,
    distances: Vectors,
) -> None:  # pragma: no cover - compiled
    """Update labels, distances and bounds after the comparisons.

    A vector changes its cluster only if the exact distance is smaller: with rounded products it might change for ever.
    """
    for i in range(len(vectors)):
        runner_up = first[i]
        if number[i] == labels[i]:
            runner_up = second[i]
        elif number[i] >= 0:
            distance = np.sqrt(_square(vectors[i], centroids[number[i]]))
            if distance < distances[i]:
                bounds[i] = min(bounds[i], distances[i])
                labels[i], distances[i] = number[i], distance
                runner_up = second[i]
        bounds[i] = min(bounds[i], np.sqrt(max(np.float32(2) * (halves[i] + runner_up), np.float32(0))))


@njit(cache=True, nogil=True)
def _measure(
    vectors: Vectors, centroids: Vectors, moves: Vectors, labels: Labels, distances: Vectors
) -> None:  # pragma: no cover - compiled
    for i in range(len(vectors)):
        if moves[labels[i]] > 0:
            distances[i] = np.sqrt(_square(vectors[i], centroids[labels[i]]))


@njit(cache=True, nogil=True)
def _recount(
    vectors: Vectors, changed: Integers, before: Labels, after: Labels, sums: Array, counts: Integers
) -> None:  # pragma: no cover - compiled
    """Move vectors from the sums and counts of one cluster to those of another; -1 is no cluster."""
    for place in range(len(changed)):
        for label, sign in ((before[place], -1), (after[place], 1)):
            if label >= 0:
                counts[label] += sign
                for j in range(vectors.shape[1]):
                    sums[label, j] += sign * vectors[changed[place], j]


@njit(cache=True, nogil=True)
def _sample_centres(vectors: Vectors, uniforms: Array) -> Integers:  # pragma: no cover - compiled
    """Sample the rows that are k-means++ centres, with one uniform number from [0, 1) each.

    A vector keeps its nearest centre if its distance to it is at most half that between the two centres (Raff 2021).
    """
    chosen = np.empty(len(uniforms), np.int64)
    squares = np.full(len(vectors), np.inf, np.float32)  # squared distance to the nearest centre
    centre = np.zeros(len(vectors), np.int32)  # number of that centre
    reach = np.zeros(
        len(uniforms), np.float32
    )  # a quarter of the squared distance of the new centre to each earlier one
    for k in range(len(uniforms)):
        row = _sample_row(squares, uniforms[k]) if k else int(uniforms[k] * len(vectors))
        chosen[k] = row
        for earlier in range(k):
            reach[earlier] = _square(vectors[row], vectors[chosen[earlier]]) / 4
        for i in range(len(vectors)):
            if k == 0 or reach[centre[i]] < squares[i]:
                square = _square(vectors[i], vectors[row])
                if square < squares[i]:
                    squares[i], centre[i] = square, k
    return chosen


@njit(cache=True, nogil=True)
def _sample_row(weights: Vectors, uniform: float) -> int:  # pragma: no cover - compiled
    """Sample a row with probability proportional to its weight; the first one if all weights are 0."""
    total = 0.0
    for weight in weights:
        total += weight
    remaining, sampled = uniform * total, 0
    for row in range(len(weights)):
        if weights[row] > 0:
            sampled = row
            remaining -= weights[row]
            if remaining < 0:
                break
    return sampled
