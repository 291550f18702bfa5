"""Intervals of divergences by test inversion, along a path of collections from no difference to more than was observed.

A plug-in divergence is biased upward, and near 0 it is far from normal: neither a bootstrap nor a delta method gives an
interval that holds. So collections are drawn whose divergence is known, from weights on the documents of both sides:

    x in [0, 1]   documents of either side are drawn from that side with probability x, and else from both together;
    x > 1         beyond what was observed: documents are drawn the more often the more their categories tell the sides
                  apart (exponential tilting, Efron 1981).

At no x has a side no chance of a category of the other: that would be an infinite KL. The collection whose samples have
the observed value on average gives the estimate; those of which 2.5 % of the samples reach it, or fall below it, the
interval.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from macroscope.arrays import mapped
from macroscope.statistics.document_sums import MANY, Array
from macroscope.statistics.tidy import UNDEFINED

Categories = Sequence[sparse.csr_matrix | Array]
"""One matrix a categorisation: documents x its categories; an array where hardly any of its cells is 0."""
Values = dict[str, Array]
"""Name of a divergence -> its values."""
PATH = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.88, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0)
PSEUDO_COUNT = 0.5
"""Of every category, that a side may have though it was not seen there (Jeffreys)."""
_ENDS = {
    "jensen_shannon": (0.0, float(np.log(2))),
    "auc_divergence": (0.0, 1.0),
    "frontier_integral": (0.0, 1.0),
    "mauve": (1.0, 0.0),
    "exponentiated_kl": (1.0, float("inf")),
}
_ROOTS = {"auc_divergence": 0.25, "mauve": 0.25, "exponentiated_kl": 1.0}


def ends_of(name: str) -> tuple[float, float]:
    """Value of a divergence where nothing differs, and where everything does."""
    return _ENDS.get(name, (0.0, float("inf")))


@dataclass
class Curves:
    """What samples along the path have, by name of the divergence; `upward`: larger = more different.

    Attributes
    ----------
    truth
        Divergence of the collections themselves.
    mean, low, high
        Of their samples: mean, and the quantiles at both tails.
    """

    truth: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def where(self, curve: str, value: float, beyond: float) -> float:
        """Truth at which a curve, made monotone, reaches a value; `beyond` where it does not along the whole path."""
        heights = np.maximum.accumulate(getattr(self, curve))
        return float(np.interp(value, heights, self.truth)) if value <= heights[-1] else beyond


def invert(
    reference: Categories,
    candidate: Categories,
    observed: dict[str, float],
    divergences: Callable[[list[Array], list[Array], bool], Values],
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, tuple[tuple[float, float], tuple[float, float, float]]]:
    """For each divergence, the interval of its plug-in value, and (estimate, low, high) of the two populations'.

    Parameters
    ----------
    observed
        Plug-in values.
    divergences
        (counts of both sides under each categorisation, draws x categories; whether they are known and not a sample) ->
        name -> mean over the categorisations of each draw.
    resamples
        Draws along the whole path.

    Returns
    -------
    name -> intervals
        NaN where the plug-in value is not finite, or so large that samples of nothing on the path have it, and there is
        no largest value. Where only the upper end is beyond the path, it is the largest value that there is.
    """
    names = [name for name, value in observed.items() if np.isfinite(value)]
    path = _Path(reference, candidate)
    tail = (1 - confidence) / 2
    curves = {name: Curves() for name in names}
    for x in PATH:
        known, draws = path.at(x, max(20, resamples // len(PATH)), rng)
        truth = divergences(*known, True)
        parts = [divergences(*some, False) for some in draws]
        for name in names:
            found = np.concatenate([part[name] for part in parts])
            _extend(curves[name], name, float(truth[name][0]) if x else ends_of(name)[0], found, tail)
        if x >= 1 and all(curves[name].low[-1] >= _upward(name, observed[name]) for name in names):
            break
    nothing = ((UNDEFINED,) * 2, (UNDEFINED,) * 3)
    return {name: _inverted(curves[name], name, observed[name]) if name in curves else nothing for name in observed}


class _Path:
    """Weights of the documents of both sides, for each side, along the path."""

    def __init__(self, reference: Categories, candidate: Categories) -> None:
        self.both = stacked(reference, candidate)
        self.sizes = (reference[0].shape[0], candidate[0].shape[0])
        own = np.repeat([[1.0, 0.0], [0.0, 1.0]], self.sizes, axis=1)
        self.own = own / own.sum(axis=1, keepdims=True)
        # How far a side is drawn from itself alone at x = 1: less where few counts tell little of rare categories.
        seen = np.mean([np.count_nonzero(np.asarray(some.sum(axis=0))) for some in self.both])
        counts = [np.mean([some.sum() for some in side]) for side in (reference, candidate)]
        self.most = np.array([[count / (count + PSEUDO_COUNT * seen)] for count in counts])
        self.scores = self._scores(self.mixed(1.0))

    def mixed(self, u: float) -> Array:
        """Probability of each document for either side, 2 x documents."""
        share = u * self.most
        return share * self.own + (1 - share) / sum(self.sizes)

    def _scores(self, weights: Array) -> Array:
        """Of each document, the mean log-ratio of its categories between the sides."""
        scores = np.zeros(sum(self.sizes))
        for counts in self.both:
            shares = weights @ counts
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(shares[0] / shares[0].sum()) - np.log(shares[1] / shares[1].sum())
            length = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1.0)
            scores += (counts @ np.nan_to_num(logs)) / length
        return scores / len(self.both)

    def at(
        self, x: float, draws: int, rng: np.random.Generator
    ) -> tuple[tuple[list[Array], list[Array]], Iterator[tuple[list[Array], list[Array]]]]:
        """Counts of the two collections at x, and of samples of them."""
        weights = self.mixed(min(x, 1.0))
        if x > 1:
            tilt = (x - 1) * np.outer([1.0, -1.0], self.scores)
            weights = weights * np.exp(tilt - tilt.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
        known = [self._sums(row[None] * size) for row, size in zip(weights, self.sizes, strict=True)]
        return (known[0], known[1]), self._drawn(weights, draws, rng)

    def _drawn(self, weights: Array, draws: int, rng: np.random.Generator) -> Iterator[tuple[list[Array], list[Array]]]:
        if sum(self.sizes) > MANY:
            yield from self._drawn_singly(weights, draws, rng)
            return
        at_once = max(1, (1 << 24) // sum(self.sizes))
        for start in range(0, draws, at_once):
            some = min(at_once, draws - start)
            first, second = (
                self._sums(rng.multinomial(size, row, some).astype(float))
                for size, row in zip(self.sizes, weights, strict=True)
            )
            yield first, second

    def _drawn_singly(
        self, weights: Array, draws: int, rng: np.random.Generator
    ) -> Iterator[tuple[list[Array], list[Array]]]:
        from macroscope.statistics.resampled_counts import resampled_counts  # compiled code: slow to import

        whole = side_by_side(self.both)
        sides = (resampled_counts(whole, row, size, draws, rng) for row, size in zip(weights, self.sizes, strict=True))
        for first, second in zip(*sides, strict=True):
            yield split(first, self.both), split(second, self.both)

    def _sums(self, weights: Array) -> list[Array]:
        return [np.ascontiguousarray((counts.T @ weights.T).T) for counts in self.both]


def stacked(reference: Categories, candidate: Categories) -> Categories:
    """Documents of both sides under each categorisation: those of the reference first."""
    found: list[sparse.csr_matrix | Array] = []
    for first, second in zip(reference, candidate, strict=True):
        if isinstance(first, np.ndarray):
            both = mapped((len(first) + len(second), first.shape[1]))
            both[: len(first)], both[len(first) :] = first, second
            found.append(both)
        else:
            found.append(sparse.vstack([first, second]).tocsr())
    return found


def side_by_side(both: Categories) -> sparse.csr_matrix | Array:
    """Categories of all categorisations in one matrix."""
    return both[0] if len(both) == 1 else sparse.hstack(both, format="csr")


def split(counts: Array, both: Categories) -> list[Array]:
    """Columns of `side_by_side` by categorisation."""
    return np.split(counts, np.cumsum([some.shape[1] for some in both])[:-1], axis=1)


def _extend(curves: Curves, name: str, truth: float, draws: Array, tail: float) -> None:
    """Add a point of the path. Quantiles are by moments of a root of the draws, which is nearly normal."""
    root, start = _ROOTS.get(name, 0.5), _upward(name, ends_of(name)[0])
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


def _inverted(curves: Curves, name: str, observed: float) -> tuple[tuple[float, float], tuple[float, float, float]]:
    value = float(_upward(name, observed))
    furthest, end = curves.truth[-1], float(_upward(name, ends_of(name)[1]))
    estimate = curves.where("mean", value, beyond=end)
    if not np.isfinite(estimate):
        return (UNDEFINED,) * 2, (UNDEFINED,) * 3
    low = min(curves.where("high", value, beyond=furthest), estimate)
    high = max(curves.where("low", value, beyond=end), estimate)
    heights = np.maximum.accumulate(curves.mean)
    least, most = (float(np.interp(end, curves.truth, heights)) for end in (low, high))
    mean, under, over = (
        float(np.interp(estimate, curves.truth, getattr(curves, which))) for which in ("mean", "low", "high")
    )
    lowest, highest = sorted(ends_of(name))

    def back(*upward: float) -> list[float]:
        return sorted(float(np.clip(_upward(name, some), lowest, highest)) for some in upward)

    # What samples of these sizes have on average grows with what the populations have; where these do not differ, its
    # curve begins at what nothing differs looks like, and the spread of samples there is what is left to say.
    around = back(min(least, value + under - mean), max(most, value + over - mean))
    ends = back(low, high)
    return (around[0], around[1]), (back(estimate)[0], ends[0], ends[1])


def _upward(name: str, values: "float | Array") -> "float | Array":
    """Turn values so that larger is more different; MAUVE alone is larger where less differs."""
    return -values if name == "mauve" else values
