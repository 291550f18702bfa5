"""Do the coordinates of two collections of vectors vary together alike? The distance between their covariances.

The mean squared difference between the entries of two sample covariances is biased upward, the more the smaller the
samples: what each entry's own sampling variance adds is taken off, so that it is about 0, and may be below, where
nothing differs.
"""

import numpy as np
from scipy.special import ndtri

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import Row, undefined

NAME = "covariance_discrepancy"
STATISTICS = (
    Statistic(
        NAME,
        "mean squared difference between the entries of the two populations' covariances",
        "the same distribution of vectors on both sides, but for its mean",
    ),
)
LEAST = 4
"""Fewest vectors of a side."""
_CELLS_AT_ONCE = 1 << 24


def covariance_discrepancy(
    reference: Array,
    candidate: Array,
    permutations: int,
    resampling: Resampling,
    permutation: Permutation | None = None,
) -> Row:
    """Mean over the entries of the squared difference of two covariances, without small-sample bias.

    Parameters
    ----------
    reference, candidate
        Vectors x dimensions.
    exchange
        Of documents of the reference and the candidate, where some have partners.

    Returns
    -------
    row
        In squared units of the product of two coordinates. The interval holds all true values from which the value is
        not too far (`_interval`); it takes partners for strangers. The p-value exchanges vectors
        around the mean of their own side, so that another mean is no difference; each exchange is centred anew. NaN
        with fewer than `LEAST` vectors on a side.
    """
    n, m = len(reference), len(candidate)
    if min(n, m) < LEAST:
        return undefined(NAME)
    sides = [(side - side.mean(axis=0)) * np.sqrt(len(side) / (len(side) - 1)) for side in (reference, candidate)]
    moments = [_Moments.of(side) for side in sides]
    value = float(_discrepancies(*moments)[0])
    rng = np.random.default_rng(resampling.seed)
    permutation = permutation or Permutation((n, m))
    null = _permuted(np.concatenate(sides), permutation, permutations, rng)
    reached = np.count_nonzero(null >= value - 1e-12 * max(1.0, abs(value)))
    exact = permutation.is_exact(permutations)
    p = reached / len(null) if exact else (reached + 1) / (len(null) + 1)
    bias = float(sum(some.variance[0] for some in moments)) / reference.shape[1] ** 2
    z = float(ndtri((1 + resampling.confidence) / 2))
    return NAME, value, *_interval(value, _jackknife_error(sides), float(null.var()), bias, z), float(p)


class _Moments:
    """Covariances of samples, and the sampling variance of all their entries together; a draw a row.

    Parameters
    ----------
    size, sums, outer
        Number of vectors, their sums, and those of their outer products.
    fourth
        Mean fourth power of the length of a vector, about the mean of its population.
    """

    def __init__(self, size: Array, sums: Array, outer: Array, fourth: Array) -> None:
        means = sums / size[:, None]
        of_means = np.einsum("ia,ib->iab", means, means).reshape(outer.shape)
        self.covariance = (outer / size[:, None] - of_means) * (size / (size - 1))[:, None]
        squared = np.einsum("ij,ij->i", self.covariance, self.covariance)
        # The square of a sample's covariance is larger than the population's by this very variance; exact for normal
        # vectors.
        self.variance = (fourth - squared) / (size - 2)

    @classmethod
    def of(cls, side: Array) -> "_Moments":
        """Those of one sample, around its mean and scaled as `covariance_discrepancy` does."""
        n = float(len(side))
        outer = (side.T @ side).reshape(1, -1) * (n - 1) / n
        fourth = np.mean((side**2).sum(axis=1) ** 2)
        return cls(np.array([n]), np.zeros((1, side.shape[1])), outer, np.array([fourth]))


def _discrepancies(first: _Moments, second: _Moments) -> Array:
    difference = first.covariance - second.covariance
    squared = np.einsum("ij,ij->i", difference, difference)
    return np.asarray((squared - first.variance - second.variance) / difference.shape[1])


def _permuted(vectors: Array, permutation: Permutation, permutations: int, rng: np.random.Generator) -> Array:
    """The discrepancy after each exchange."""
    fourth = (vectors**2).sum(axis=1) ** 2
    sums, outer = vectors.sum(axis=0), (vectors.T @ vectors).ravel()
    found = []
    for inside in permutation.memberships(permutations, rng, max(1, _CELLS_AT_ONCE // (len(vectors) + len(outer)))):
        # Outer products draw by draw: those of all vectors side by side would need vectors x dimensions^2.
        first = np.stack([(vectors * row[:, None]).T @ vectors for row in inside]).reshape(len(inside), -1)
        sizes = inside.sum(axis=1)
        theirs, ours = inside @ vectors, inside @ fourth
        sides = [
            _Moments(sizes, theirs, first, ours / sizes),
            _Moments(
                len(vectors) - sizes, sums - theirs, outer - first, (fourth.sum() - ours) / (len(vectors) - sizes)
            ),
        ]
        found.append(_discrepancies(*sides))
    return np.concatenate(found)


def _jackknife_error(sides: list[Array]) -> float:
    """Standard error from leaving out each vector once; fourth powers stay about the old mean."""
    variance = 0.0
    for own, other in (sides, sides[::-1]):
        n, d = own.shape
        covariance, others = own.T @ own / n, other.T @ other / len(other)
        # Without a vector x the covariance is a S - b x x'.
        a, b = (n - 1) / (n - 2), 1 / (n - 2)
        lengths = (own**2).sum(axis=1)

        def squares(matrix: Array, x: Array = own, b: float = b, lengths: Array = lengths) -> Array:
            """Squared norm of the matrix minus b x x', for each x."""
            return (matrix**2).sum() - 2 * b * np.einsum("ia,ia->i", x @ matrix, x) + b**2 * lengths**2

        fourth = ((lengths**2).sum() - lengths**2) / (n - 1)
        own_variance = (fourth - squares(a * covariance)) / (n - 3)
        left_out = (squares(a * covariance - others) - own_variance) / d**2
        variance += (n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()
    return float(np.sqrt(variance))


def _interval(value: float, error: float, null_variance: float, bias: float, z: float) -> tuple[float, float]:
    """All true discrepancies t from which the value is no further than z standard errors.

    The variance of the value grows with what is true, as null_variance + slope t; an interval with one standard error
    would end too soon. The slope is found from the jackknife's error at the value, but is no smaller than that of a
    difference of which all directions are alike: twice the null's variance over what noise adds to a distance.
    """
    slope = 2 * null_variance / bias if bias > 0 else 0.0
    if value > 0:
        slope = max(slope, (error**2 - null_variance) / value)
    centre = value + z**2 * slope / 2
    half = z * np.sqrt(max(0.0, slope * value + z**2 * slope**2 / 4 + null_variance))
    return float(min(value, centre - half)), float(max(value, centre + half))
