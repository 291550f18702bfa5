"""Distance between the covariances of two collections of vectors.

The mean squared difference between the entries of two sample covariances is biased upward, the more so the smaller the
samples. The sampling variance of the entries is therefore subtracted: the value is about 0 if nothing differs, and may
be negative. Paired vectors vary together, which is part of that variance.
"""

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from macroscope.options import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import Integers
from macroscope.statistics.p_values import agree_with_test
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate

NAME = "covariance_discrepancy"
STATISTICS = (
    Statistic(
        NAME,
        "mean squared difference between the entries of the two populations' covariances",
        "the same distribution of vectors on both sides, but for its mean",
    ),
)
LEAST = 4
"""Smallest number of vectors of a sample."""
_CELLS_AT_ONCE = 1 << 24


def covariance_discrepancy(
    reference: Array,
    candidate: Array,
    permutations: int,
    resampling: Resampling,
    permutation: Permutation | None = None,
) -> Estimate:
    """Compute the mean over the entries of the squared difference of two covariances, without small-sample bias.

    Parameters
    ----------
    reference, candidate
        Vectors x dimensions.
    permutations
        Number of permutations of the p-value.
    resampling
        Level and seed.
    permutation
        Permutations of documents between the samples. Default: no document is paired.

    Returns
    -------
    estimate
        In squared units of the product of two coordinates. The interval holds all true values from which the value is
        not too far (`_interval`). The p-value permutes vectors around the mean of their own sample,
        so that a difference in means does not count; the samples of each permutation are centred again. NaN with fewer
        than `LEAST` vectors in a sample.
    """
    n, m = len(reference), len(candidate)
    if min(n, m) < LEAST:
        return Estimate(NAME, UNDEFINED)
    permutation = permutation or Permutation((n, m))
    samples = [
        (sample - sample.mean(axis=0)) * np.sqrt(len(sample) / (len(sample) - 1)) for sample in (reference, candidate)
    ]
    vectors, units = np.concatenate(samples), permutation.unit_labels
    of_reference, of_candidate = (_Moments.from_sample(sample) for sample in samples)
    inside = np.concatenate([np.ones(n), np.zeros(m)])[None]
    noise = float(_noise(of_reference, of_candidate, _Units(vectors, units), inside)[0])
    value = float(_squared_distances(of_reference, of_candidate)[0]) - noise
    null = _permuted(vectors, permutation, permutations, np.random.default_rng(resampling.seed))
    reached = np.count_nonzero(null >= value - 1e-12 * max(1.0, abs(value)))
    exact = permutation.is_exact(permutations)
    p = reached / len(null) if exact else (reached + 1) / (len(null) + 1)
    z = float(ndtri((1 + resampling.confidence) / 2))
    low, high = _interval(value, _jackknife_error(samples, units), float(null.var()), noise, z)
    return agree_with_test(Estimate(NAME, value, low, high, float(p)), resampling.confidence)


class _Moments:
    """Covariances of samples, and the summed sampling variance of their entries; one row per draw.

    Parameters
    ----------
    size, sums, outer
        Number of vectors, their sums, and the sums of their outer products.
    fourth
        Mean fourth power of the length of a vector, about the mean of its population.
    """

    def __init__(self, size: Array, sums: Array, outer: Array, fourth: Array) -> None:
        means = sums / size[:, None]
        of_means = np.einsum("ia,ib->iab", means, means).reshape(outer.shape)
        self.covariance = (outer / size[:, None] - of_means) * (size / (size - 1))[:, None]
        squared = np.einsum("ij,ij->i", self.covariance, self.covariance)
        # A sample covariance's square exceeds the population's by this variance on average; exact for normal vectors.
        self.variance = (fourth - squared) / (size - 2)
        self.freedom = np.sqrt(size * (size - 2))

    @classmethod
    def from_sample(cls, sample: Array) -> "_Moments":
        """Compute the moments of one sample, centred and scaled as in `covariance_discrepancy`."""
        n = float(len(sample))
        outer = (sample.T @ sample).reshape(1, -1) * (n - 1) / n
        fourth = np.mean((sample**2).sum(axis=1) ** 2)
        return cls(np.array([n]), np.zeros((1, sample.shape[1])), outer, np.array([fourth]))


class _Units:
    """Vectors of one unit, as paired ones are: their squared products are larger than those of independent vectors."""

    def __init__(self, vectors: Array, units: Integers) -> None:
        members = sparse.csr_matrix((np.ones(len(units)), (np.arange(len(units)), units)))
        pairs = (members @ members.T - sparse.eye(len(units))).tocoo()
        first, second = pairs.row[pairs.data > 0], pairs.col[pairs.data > 0]
        squares = np.einsum("ia,ia->i", vectors[first], vectors[second]) ** 2
        self.sums, self.numbers = (
            sparse.csr_matrix((values, (first, second)), pairs.shape) for values in (squares, np.ones(len(first)))
        )

    def excess(self, inside: Array, outside: Array, product: Array) -> Array:
        """Sum the squared products of ordered pairs of vectors in two samples, beyond `product` each, for each draw."""
        if not self.numbers.nnz:
            return np.zeros(len(inside))
        sums, numbers = (((inside @ matrix) * outside).sum(axis=1) for matrix in (self.sums, self.numbers))
        return np.asarray(sums - numbers * product)


def _squared_distances(first: _Moments, second: _Moments) -> Array:
    difference = first.covariance - second.covariance
    return np.asarray(np.einsum("ij,ij->i", difference, difference) / difference.shape[1])


def _noise(first: _Moments, second: _Moments, units: _Units, inside: Array) -> Array:
    """Compute the mean squared distance, if the populations do not differ, of two samples of these vectors."""
    noise = first.variance + second.variance
    samples = ((first, inside), (second, 1 - inside))
    for moments, members in samples:
        for other_moments, other_members in samples:
            product = np.einsum("ij,ij->i", moments.covariance, other_moments.covariance)
            shared = units.excess(members, other_members, product) / (moments.freedom * other_moments.freedom)
            noise = noise + (shared if moments is other_moments else -shared)
    return np.asarray(noise / first.covariance.shape[1])


def _permuted(vectors: Array, permutation: Permutation, permutations: int, rng: np.random.Generator) -> Array:
    """Compute the discrepancy after each permutation."""
    units = _Units(vectors, permutation.unit_labels)
    fourth = (vectors**2).sum(axis=1) ** 2
    sums, outer = vectors.sum(axis=0), (vectors.T @ vectors).ravel()
    discrepancies = []
    for inside in permutation.memberships(permutations, rng, max(1, _CELLS_AT_ONCE // (len(vectors) + len(outer)))):
        # Draw by draw, since outer products of all vectors at once would need vectors x dimensions^2.
        first_outer = np.stack([(vectors * row[:, None]).T @ vectors for row in inside]).reshape(len(inside), -1)
        sizes = inside.sum(axis=1)
        first_sums, first_fourth = inside @ vectors, inside @ fourth
        first = _Moments(sizes, first_sums, first_outer, first_fourth / sizes)
        second = _Moments(
            len(vectors) - sizes,
            sums - first_sums,
            outer - first_outer,
            (fourth.sum() - first_fourth) / (len(vectors) - sizes),
        )
        discrepancies.append(_squared_distances(first, second) - _noise(first, second, units, inside))
    return np.concatenate(discrepancies)


def _jackknife_error(samples: list[Array], units: Integers) -> float:
    """Compute the standard error by leaving out each vector once, and adding up what those of a unit change.

    Fourth powers stay about the old mean.
    """
    changes = []
    for sample, other_sample in (samples, samples[::-1]):
        n, d = sample.shape
        covariance, other_covariance = sample.T @ sample / n, other_sample.T @ other_sample / len(other_sample)
        # Without a vector x the covariance is a S - b x x'.
        a, b = (n - 1) / (n - 2), 1 / (n - 2)
        lengths = (sample**2).sum(axis=1)

        def squares(matrix: Array, x: Array = sample, b: float = b, lengths: Array = lengths) -> Array:
            """Return the squared norm of the matrix minus b x x', for each x."""
            return (matrix**2).sum() - 2 * b * np.einsum("ia,ia->i", x @ matrix, x) + b**2 * lengths**2

        fourth = ((lengths**2).sum() - lengths**2) / (n - 1)
        sampling_variance = (fourth - squares(a * covariance)) / (n - 3)
        left_out = (squares(a * covariance - other_covariance) - sampling_variance) / d**2
        changes.append(np.sqrt((n - 1) / n) * (left_out - left_out.mean()))
    return float(np.linalg.norm(np.bincount(units, np.concatenate(changes))))


def _interval(value: float, error: float, null_variance: float, bias: float, z: float) -> tuple[float, float]:
    """Compute the interval of all true discrepancies t from which the value is at most z standard errors away.

    The variance of the value grows with the truth, as null_variance + slope t; an interval with one standard error
    would be too short. The slope is derived from the jackknife's error at the value, but is at least that of a
    difference whose directions are all alike: twice the null's variance over the expected distance under noise.
    """
    slope = 2 * null_variance / bias if bias > 0 else 0.0
    if value > 0:
        slope = max(slope, (error**2 - null_variance) / value)
    centre = value + z**2 * slope / 2
    half = z * np.sqrt(max(0.0, slope * value + z**2 * slope**2 / 4 + null_variance))
    return float(min(value, centre - half)), float(max(value, centre + half))
