"""Intervals of divergences by test inversion, along a path of populations of increasing difference.

A plug-in divergence is biased upward, and near 0 it is far from normal, so that neither a bootstrap nor a delta method
gives valid intervals. Samples are therefore taken from populations of known divergence. These are weights on the
documents of both samples, and the path runs from no difference to more than was observed:

    x in [0, 1]   documents of a sample come from that sample with probability x, and from both together otherwise;
    x > 1         beyond the observed difference: documents get the more weight, the better their categories separate
                  the samples (exponential tilting, Efron 1981).

At no x does a category of one sample have probability 0 in the other, which would be an infinite KL. The population
whose samples have the observed value on average gives the estimate. The populations of which 2.5 % of the samples reach
the observed value, or fall below it, give the ends of the interval.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from macroscope.arrays import mapped
from macroscope.statistics.document_features import MANY, Array
from macroscope.statistics.tidy import UNDEFINED

Categories = Sequence[sparse.csr_matrix | Array]
"""One matrix per categorisation: documents x its categories; an array if hardly any of its cells is 0."""
Values = dict[str, Array]
"""Values of divergences by name."""
PATH = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.88, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0)
PSEUDO_COUNT = 0.5
"""Pseudo-count of every category in a sample that does not contain it (Jeffreys)."""
_ENDS = {
    "jensen_shannon": (0.0, float(np.log(2))),
    "auc_divergence": (0.0, 1.0),
    "frontier_integral": (0.0, 1.0),
    "mauve": (1.0, 0.0),
    "exponentiated_kl": (1.0, float("inf")),
}
_ROOTS = {"auc_divergence": 0.25, "mauve": 0.25, "exponentiated_kl": 1.0}


def divergence_bounds(name: str) -> tuple[float, float]:
    return _ENDS.get(name, (0.0, float("inf")))


@dataclass
class Curves:
    """Curves of a divergence along the path, on the scale of `_upward`: larger is more different.

    Attributes
    ----------
    truth
        Divergence of the populations.
    mean, low, high
        Mean of the divergence of their samples, and its quantiles at both tails.
    """

    truth: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def truth_at(self, curve: str, value: float, beyond: float) -> float:
        """Return the truth at which a curve, made monotone, reaches a value; `beyond` if the path ends before."""
        heights = np.maximum.accumulate(getattr(self, curve))
        return float(np.interp(value, heights, self.truth)) if value <= heights[-1] else beyond


def invert_tests(
    reference: Categories,
    candidate: Categories,
    observed: dict[str, float],
    divergences: Callable[[list[Array], list[Array], bool], Values],
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, tuple[tuple[float, float], tuple[float, float, float]]]:
    """Compute intervals of each plug-in divergence, and estimates with intervals of the populations' divergences.

    Parameters
    ----------
    observed
        Plug-in values by name.
    divergences
        Function of counts of both samples (one array draws x categories per categorisation), and of whether they are
        populations rather than samples. It returns, by name, the mean over the categorisations of each draw.
    resamples
        Number of samples along the whole path.
    confidence
        Level of the intervals, in (0, 1).

    Returns
    -------
    dict
        Name -> ((low, high) of the plug-in value, (estimate, low, high) of the populations' divergence). NaN if the
        plug-in value is not finite, or if it is beyond all samples on the path and the divergence is unbounded. If only
        the upper end is beyond the path, it is the largest possible value.
    """
    names = [name for name, value in observed.items() if np.isfinite(value)]
    path = _Path(reference, candidate)
    tail = (1 - confidence) / 2
    curves = {name: Curves() for name in names}
    for x in PATH:
        population, samples = path.sample_at(x, max(20, resamples // len(PATH)), rng)
        truth = divergences(*population, True)
        parts = [divergences(*batch, False) for batch in samples]
        for name in names:
            values = np.concatenate([part[name] for part in parts])
            _append_point(curves[name], name, float(truth[name][0]) if x else divergence_bounds(name)[0], values, tail)
        if x >= 1 and all(curves[name].low[-1] >= _upward(name, observed[name]) for name in names):
            break
    nothing = ((UNDEFINED,) * 2, (UNDEFINED,) * 3)
    return {name: _intervals(curves[name], name, observed[name]) if name in curves else nothing for name in observed}


class _Path:
    """Path of populations: weights of the documents of both samples, for each sample."""

    def __init__(self, reference: Categories, candidate: Categories) -> None:
        self.both = stack_samples(reference, candidate)
        self.sizes = (reference[0].shape[0], candidate[0].shape[0])
        membership = np.repeat([[1.0, 0.0], [0.0, 1.0]], self.sizes, axis=1)
        self.own_weights = membership / membership.sum(axis=1, keepdims=True)
        # Weight of the own sample at x = 1: smaller if there are few counts per category.
        seen = np.mean([np.count_nonzero(np.asarray(matrix.sum(axis=0))) for matrix in self.both])
        counts = [np.mean([matrix.sum() for matrix in sample]) for sample in (reference, candidate)]
        self.largest_share = np.array([[count / (count + PSEUDO_COUNT * seen)] for count in counts])
        self.scores = self._scores(self.mixed_weights(1.0))

    def mixed_weights(self, u: float) -> Array:
        """Return the probability of each document for either sample: 2 x documents."""
        share = u * self.largest_share
        return share * self.own_weights + (1 - share) / sum(self.sizes)

    def _scores(self, weights: Array) -> Array:
        """Return the mean log-ratio of the categories of each document between the samples."""
        scores = np.zeros(sum(self.sizes))
        for counts in self.both:
            shares = weights @ counts
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(shares[0] / shares[0].sum()) - np.log(shares[1] / shares[1].sum())
            length = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1.0)
            scores += (counts @ np.nan_to_num(logs)) / length
        return scores / len(self.both)

    def sample_at(
        self, x: float, draws: int, rng: np.random.Generator
    ) -> tuple[tuple[list[Array], list[Array]], Iterator[tuple[list[Array], list[Array]]]]:
        """Return the counts of both populations at x, and an iterator over counts of samples of them."""
        weights = self.mixed_weights(min(x, 1.0))
        if x > 1:
            tilt = (x - 1) * np.outer([1.0, -1.0], self.scores)
            weights = weights * np.exp(tilt - tilt.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
        population = [self._sums(row[None] * size) for row, size in zip(weights, self.sizes, strict=True)]
        return (population[0], population[1]), self._samples(weights, draws, rng)

    def _samples(
        self, weights: Array, draws: int, rng: np.random.Generator
    ) -> Iterator[tuple[list[Array], list[Array]]]:
        if sum(self.sizes) > MANY:
            yield from self._samples_of_many(weights, draws, rng)
            return
        at_once = max(1, (1 << 24) // sum(self.sizes))
        for start in range(0, draws, at_once):
            batch = min(at_once, draws - start)
            reference, candidate = (
                self._sums(rng.multinomial(size, row, batch).astype(float))
                for size, row in zip(self.sizes, weights, strict=True)
            )
            yield reference, candidate

    def _samples_of_many(
        self, weights: Array, draws: int, rng: np.random.Generator
    ) -> Iterator[tuple[list[Array], list[Array]]]:
        from macroscope.statistics.resampled_counts import resampled_counts  # compiled code: slow to import

        joined = join_categorisations(self.both)
        samples = (
            resampled_counts(joined, row, size, draws, rng) for row, size in zip(weights, self.sizes, strict=True)
        )
        for reference, candidate in zip(*samples, strict=True):
            yield split_categorisations(reference, self.both), split_categorisations(candidate, self.both)

    def _sums(self, weights: Array) -> list[Array]:
        return [np.ascontiguousarray((counts.T @ weights.T).T) for counts in self.both]


def stack_samples(reference: Categories, candidate: Categories) -> Categories:
    """Return the documents of both samples under each categorisation, those of the reference first."""
    stacked: list[sparse.csr_matrix | Array] = []
    for of_reference, of_candidate in zip(reference, candidate, strict=True):
        if isinstance(of_reference, np.ndarray):
            both = mapped((len(of_reference) + len(of_candidate), of_reference.shape[1]))
            both[: len(of_reference)], both[len(of_reference) :] = of_reference, of_candidate
            stacked.append(both)
        else:
            stacked.append(sparse.vstack([of_reference, of_candidate]).tocsr())
    return stacked


def join_categorisations(both: Categories) -> sparse.csr_matrix | Array:
    return both[0] if len(both) == 1 else sparse.hstack(both, format="csr")


def split_categorisations(counts: Array, both: Categories) -> list[Array]:
    return np.split(counts, np.cumsum([matrix.shape[1] for matrix in both])[:-1], axis=1)


def _append_point(curves: Curves, name: str, truth: float, draws: Array, tail: float) -> None:
    """Append a point of the path. Quantiles come from moments of a root of the draws, which is nearly normal."""
    root, start = _ROOTS.get(name, 0.5), _upward(name, divergence_bounds(name)[0])
    upward = np.asarray(_upward(name, draws))
    roots = np.maximum(upward - start, 0.0) ** root
    mean, spread = roots.mean(), roots.std()
    skew = ((roots - mean) ** 3).mean() / spread**3 if spread > 0 else 0.0
    z = float(ndtri(1 - tail))
    ends = [max(mean + spread * (sign * z + skew / 6 * (z * z - 1)), 0.0) ** (1 / root) + start for sign in (-1, 1)]
    curves.truth.append(float(_upward(name, truth)))
    curves.mean.append(float(upward.mean()))
    curves.low.append(float(ends[0]))
    curves.high.append(float(ends[1]))


def _intervals(curves: Curves, name: str, observed: float) -> tuple[tuple[float, float], tuple[float, float, float]]:
    value = float(_upward(name, observed))
    furthest, end = curves.truth[-1], float(_upward(name, divergence_bounds(name)[1]))
    estimate = curves.truth_at("mean", value, beyond=end)
    if not np.isfinite(estimate):
        return (UNDEFINED,) * 2, (UNDEFINED,) * 3
    low = min(curves.truth_at("high", value, beyond=furthest), estimate)
    high = max(curves.truth_at("low", value, beyond=end), estimate)
    heights = np.maximum.accumulate(curves.mean)
    lowest_mean, highest_mean = (float(np.interp(end, curves.truth, heights)) for end in (low, high))
    mean, low_at_estimate, high_at_estimate = (
        float(np.interp(estimate, curves.truth, getattr(curves, which))) for which in ("mean", "low", "high")
    )
    lowest, highest = sorted(divergence_bounds(name))

    def to_original_scale(*upward: float) -> list[float]:
        return sorted(float(np.clip(_upward(name, number), lowest, highest)) for number in upward)

    # The mean over samples of these sizes grows with the divergence of the populations. If these do not differ, the
    # curve starts at the value without a difference, and the spread of samples there gives the interval.
    plug_in_interval = to_original_scale(
        min(lowest_mean, value + low_at_estimate - mean), max(highest_mean, value + high_at_estimate - mean)
    )
    ends = to_original_scale(low, high)
    return (plug_in_interval[0], plug_in_interval[1]), (to_original_scale(estimate)[0], ends[0], ends[1])


def _upward(name: str, values: "float | Array") -> "float | Array":
    """Return values that are larger if more differs: the negative for MAUVE, unchanged for all others."""
    return -values if name == "mauve" else values
