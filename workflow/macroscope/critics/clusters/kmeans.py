"""k-means that computes a distance only where it may change something (Lloyd's algorithm, exact).

Every vector keeps its distance to its own centroid, and a bound: no other centroid is nearer than that. The bound sinks
by the farthest move of a centroid (Hamerly 2010). A few centroids, those that gained or lost a vector, move much
farther than the rest: their distances to all vectors are computed, and the bound sinks by the farthest move of the rest
alone. A vector that this leaves in doubt is compared with the rest as well. The few are as many as make the fewest
distances.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from macroscope.critics.clusters.blocks import Threads, Vectors, threads
from macroscope.statistics.document_sums import Array

ITERATIONS = 500
_MOST_SEEDING, _FEWEST_SEEDING = 8, 1000
"""Vectors a cluster, and vectors at least, among which k-means++ looks for its centres."""
Integers = NDArray[np.int64]
Labels = NDArray[np.int32]


def k_means(vectors: Vectors, clusters: int, restarts: int, seed: int) -> Vectors:
    """Centroids of the best of some starts from k-means++, moved until no vector changes its cluster.

    One trial for each centre, as in Arthur and Vassilvitskii (2007), and where there are many vectors, among some of
    them: the several trials that scikit-learn makes by default, among all, take most of the time and change next to
    nothing.
    """
    found = []
    with threads() as many:
        for start in range(restarts):
            random = np.random.RandomState([seed, start])
            most = min(len(vectors), max(_MOST_SEEDING * clusters, _FEWEST_SEEDING))
            some = vectors if most == len(vectors) else vectors[random.choice(len(vectors), most, replace=False)]
            centroids = some[_spread(some, random.random_sample(clusters))]
            found.append(_Lloyd(vectors, centroids, many).run())
    return min(found, key=lambda one: one[0])[1]


def nearest(vectors: Vectors, centroids: Vectors) -> Labels:
    """Nearest centroid of each vector."""
    seen = _nothing_seen(len(vectors))
    _profile_texts(centroids @ vectors.T, _halves(centroids), np.arange(len(centroids), dtype=np.int32), *seen)
    return seen[2]


class _Lloyd:
    """Vectors, centroids, and what is known of the distances between them."""

    def __init__(self, vectors: Vectors, centroids: Vectors, many: Threads) -> None:
        self.vectors, self.centroids, self.threads = vectors, centroids, many
        self.halves = _halves(vectors)
        self.labels = np.full(len(vectors), -1, np.int32)
        self.own = np.full(len(vectors), np.inf, np.float32)  # distance to the centroid of the label
        self.bounds = np.zeros(len(vectors), np.float32)  # no other centroid is nearer
        self.sums, self.counts = np.zeros(centroids.shape), np.zeros(len(centroids), np.int64)

    def run(self) -> tuple[float, Vectors]:
        """Sum of squared distances to the centroids, and these."""
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
        return float((self.own.astype(float) ** 2).sum()), self.centroids

    def _assign(self, moves: Vectors) -> None:
        """Give each vector to the nearest centroid, each of which has moved so far."""
        order = np.argsort(-moves, kind="stable").astype(np.int32)
        few, sink = self._few(moves[order])
        centroids = self.centroids[order]
        halves = _halves(centroids)

        def profile(part: slice) -> None:
            vectors, own, bounds, labels = self.vectors[part], self.own[part], self.bounds[part], self.labels[part]
            first, second, number = seen = _nothing_seen(len(vectors))
            _profile_texts(centroids[:few] @ vectors.T, halves[:few], order[:few], *seen)
            bounds -= sink
            doubtful = np.flatnonzero(bounds < own)
            if few < len(order) and len(doubtful):
                more = first[doubtful], second[doubtful], number[doubtful]
                _profile_texts(centroids[few:] @ vectors[doubtful].T, halves[few:], order[few:], *more)
                first[doubtful], second[doubtful], number[doubtful] = more
            bounds[doubtful] = np.inf
            _settle(vectors, self.halves[part], self.centroids, *seen, bounds, labels, own)

        self.threads.each(profile, len(self.vectors), len(self.centroids))

    def _few(self, moves: Vectors) -> tuple[int, np.float32]:
        """How many of the centroids to compare with all vectors, and the farthest move of the rest.

        Parameters
        ----------
        moves
            The farthest first.
        """
        sinks = np.append(moves, np.float32(0))
        doubtful = np.searchsorted(np.sort(self.bounds - self.own), sinks)
        few = np.arange(len(sinks))
        distances = few * len(self.vectors) + (len(moves) - few) * doubtful
        best = len(moves) - int(np.argmin(distances[::-1]))
        return best, sinks[best]

    def _fill_empty_clusters(self) -> None:
        """Give each empty cluster the vector that is farthest from its centroid, of a cluster that has others."""
        for empty in np.flatnonzero(self.counts == 0):
            row = np.where(self.counts[self.labels] > 1, self.own, 0).argmax(axis=0, keepdims=True)
            if self.own[row] == 0:
                break  # fewer different vectors than clusters
            before = self.labels[row]
            self.labels[row] = empty
            _recount(self.vectors, row, before, self.labels[row], self.sums, self.counts)
            self.own[row] = self.bounds[row] = 0

    def _move(self) -> Vectors:
        """Move the centroids to the means of their vectors; return how far each has moved."""
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        before = self.centroids
        self.centroids = np.where(self.counts[:, None] > 0, means, before).astype(np.float32)
        moves = np.linalg.norm(self.centroids - before, axis=1)

        def measure(part: slice) -> None:
            _measure(self.vectors[part], self.centroids, moves, self.labels[part], self.own[part])

        self.threads.each(measure, len(self.vectors), self.vectors.shape[1])
        return moves


def _halves(vectors: Vectors) -> Vectors:
    return np.einsum("ij,ij->i", vectors, vectors) / 2


def _nothing_seen(rows: int) -> tuple[Vectors, Vectors, Labels]:
    """Scores of the nearest and the second nearest centroid that vectors were compared with; the nearest's number."""
    return np.full(rows, np.inf, np.float32), np.full(rows, np.inf, np.float32), np.full(rows, -1, np.int32)


@njit(cache=True, nogil=True)
def _profile_texts(
    products: Vectors, halves: Vectors, numbers: Labels, first: Vectors, second: Vectors, number: Labels
) -> None:  # pragma: no cover - compiled
    """Compare vectors with further centroids: the nearer, the smaller the score |c|^2 / 2 - x c."""
    for row in range(len(products)):
        half, this = halves[row], numbers[row]
        for i in range(len(first)):  # innermost, so that several vectors are compared at once
            score = half - products[row, i]
            nearer = score < first[i]
            farther = first[i] if nearer else score
            second[i] = farther if farther < second[i] else second[i]
            first[i] = score if nearer else first[i]
            number[i] = this if nearer else number[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _square(x: Vectors, y: Vectors) -> np.float32:  # pragma: no cover - compiled
    """Squared distance."""
    found = np.float32(0)
    for i in range(len(x)):
        found += (x[i] - y[i]) ** 2
    return found


@njit(cache=True, nogil=True)
def _settle(
    vectors: Vectors,
    halves: Vectors,
    centroids: Vectors,
    first: Vectors,
    second: Vectors,
    number: Labels,
    bounds: Vectors,
    labels: Labels,
    own: Vectors,
) -> None:  # pragma: no cover - compiled
    """Label vectors by what they were compared with.

    A vector changes its cluster where that is nearer by its exact distance: by the rounding of products it might change
    for ever.
    """
    for i in range(len(vectors)):
        rival = first[i]
        if number[i] == labels[i]:
            rival = second[i]
        elif number[i] >= 0:
            distance = np.sqrt(_square(vectors[i], centroids[number[i]]))
            if distance < own[i]:
                bounds[i] = min(bounds[i], own[i])
                labels[i], own[i] = number[i], distance
                rival = second[i]
        bounds[i] = min(bounds[i], np.sqrt(max(np.float32(2) * (halves[i] + rival), np.float32(0))))


@njit(cache=True, nogil=True)
def _measure(
    vectors: Vectors, centroids: Vectors, moves: Vectors, labels: Labels, own: Vectors
) -> None:  # pragma: no cover - compiled
    """Measure the distance of each vector to its centroid, where that has moved."""
    for i in range(len(vectors)):
        if moves[labels[i]] > 0:
            own[i] = np.sqrt(_square(vectors[i], centroids[labels[i]]))


@njit(cache=True, nogil=True)
def _recount(
    vectors: Vectors, changed: Integers, before: Labels, after: Labels, sums: Array, counts: Integers
) -> None:  # pragma: no cover - compiled
    """Take vectors from the sums and counts of one cluster to those of another; before the first is -1."""
    for place in range(len(changed)):
        for label, sign in ((before[place], -1), (after[place], 1)):
            if label >= 0:
                counts[label] += sign
                for j in range(vectors.shape[1]):
                    sums[label, j] += sign * vectors[changed[place], j]


@njit(cache=True, nogil=True)
def _spread(vectors: Vectors, draws: Array) -> Integers:  # pragma: no cover - compiled
    """Rows that k-means++ takes for centres, by one number from [0, 1) each.

    A vector keeps its nearest centre where that is no farther than half way to the new one (Raff 2021).
    """
    chosen = np.empty(len(draws), np.int64)
    squares = np.full(len(vectors), np.inf, np.float32)  # squared distance to the nearest centre
    centre = np.zeros(len(vectors), np.int32)  # which that is
    reach = np.zeros(len(draws), np.float32)  # a quarter of the squared distance of the new centre to each other
    for k in range(len(draws)):
        row = _drawn(squares, draws[k]) if k else int(draws[k] * len(vectors))
        chosen[k] = row
        for other in range(k):
            reach[other] = _square(vectors[row], vectors[chosen[other]]) / 4
        for i in range(len(vectors)):
            if k == 0 or reach[centre[i]] < squares[i]:
                square = _square(vectors[i], vectors[row])
                if square < squares[i]:
                    squares[i], centre[i] = square, k
    return chosen


@njit(cache=True, nogil=True)
def _drawn(weights: Vectors, draw: float) -> int:  # pragma: no cover - compiled
    """A row, as likely as its weight says; the first one where all weights are 0."""
    total = 0.0
    for weight in weights:
        total += weight
    left, found = draw * total, 0
    for row in range(len(weights)):
        if weights[row] > 0:
            found = row
            left -= weights[row]
            if left < 0:
                break
    return found
