"""Means, and ratios of sums over documents such as the latent PPL: their intervals, and tests of a difference.

R = sum y / sum x over documents, a mean where every x is 1. Its standard error is that of the mean residual y - R x,
so R and its error are functions of sums over documents, which resampling only re-adds.

Intervals are studentised (`bootstrap_t`), and so are tests: they exchange documents and compare studentised
differences (Janssen 1997; Chung and Romano 2013): exact where the two samples have one distribution, and of the right
level where only R is the same and the spread or the size differs; the bare difference would be a test of equal
distributions.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from macroscope.statistics.bootstrap_t import ROUNDING, Interval, Ratios, intervals
from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import p_value_of
from macroscope.statistics.permutation_groups import Permutation

Sample = tuple[ArrayLike, ArrayLike]
"""(y, x): one number a document each, x >= 0."""
STUDENTISED_TIE = 0.005
"""Where all that differs is in one document, its studentised difference is about 1 on whichever side it is: what is
left between exchanges is noise of the standard error, and counts as a tie."""
_CELLS_AT_ONCE = 1 << 25
"""Numbers of the documents of several tests that are exchanged together: 256 MB."""


def ratio_interval(sample: Sample, confidence: float, resamples: int, rng: np.random.Generator) -> Interval:
    """R = sum y / sum x with its bootstrap-t interval over documents.

    Returns
    -------
    value, low, high
        NaN without a document or where all x are 0. With fewer than two documents, or where no residual differs from 0,
        there is nothing to tell the error from: the ends are NaN.
    """
    rows = _rows(sample)
    [found] = intervals([Ratios((rows,), (len(rows),), (1.0,))], confidence, resamples, rng)
    return found


def difference_interval(
    reference: Sample,
    candidate: Sample,
    permutation: Permutation,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """R of the candidate minus that of the reference, with its bootstrap-t interval; see `ratio_interval`.

    Parameters
    ----------
    exchange
        Tells who has partners: a group of partners is resampled as one.
    """
    [found] = difference_intervals([reference], [candidate], permutation, confidence, resamples, rng)
    return found


def difference_intervals(
    reference: Sequence[Sample],
    candidate: Sequence[Sample],
    permutation: Permutation,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> list[Interval]:
    """`difference_interval` of several numbers of the same documents, which are resampled once for all of them."""
    n = permutation.sizes[0]
    groups = np.zeros(permutation.units, dtype=int) if permutation.groups is None else permutation.groups
    partnered = groups > 0
    codes, which = np.unique(groups[partnered], return_inverse=True)
    sizes = tuple(int((~side).sum()) + len(codes) for side in (partnered[:n], partnered[n:]))

    def differences() -> Iterator[Ratios]:
        for theirs, ours in zip(map(_rows, reference), map(_rows, candidate), strict=True):
            of_reference, of_candidate = np.pad(theirs, ((0, 0), (0, 2))), np.pad(ours, ((0, 0), (2, 0)))
            together = np.zeros((len(codes), 4))
            np.add.at(together, which, np.concatenate([of_reference[partnered[:n]], of_candidate[partnered[n:]]]))
            strata = (of_reference[~partnered[:n]], of_candidate[~partnered[n:]], together)
            yield Ratios(tuple(some for some in strata if len(some)), sizes, (-1.0, 1.0))

    return intervals(differences(), confidence, resamples, rng)


def ratio_test(
    reference: Sample, candidate: Sample, permutation: Permutation, draws: int, rng: np.random.Generator
) -> float:
    """Two-tailed p-value of equal R in two samples, by exchanging documents; studentised.

    The standard error is that under the null: of residuals from R of both samples together, which no exchange changes.

    Returns
    -------
    p in (0, 1]; NaN where R of a side is undefined. 1 where nothing differs.
    """
    [found] = ratio_tests([reference], [candidate], permutation, draws, rng)
    return found


def ratio_tests(
    reference: Sequence[Sample],
    candidate: Sequence[Sample],
    permutation: Permutation,
    draws: int,
    rng: np.random.Generator,
) -> list[float]:
    """`ratio_test` of several numbers of the same documents, which are exchanged once for all of them."""
    at_once = max(1, _CELLS_AT_ONCE // (3 * max(1, permutation.units)))
    found: list[float] = []
    for start in range(0, len(reference), at_once):
        some = slice(start, start + at_once)
        pairs = [(_rows(theirs), _rows(ours)) for theirs, ours in zip(reference[some], candidate[some], strict=True)]
        defined = [bool(theirs[:, 1].sum() and ours[:, 1].sum()) for theirs, ours in pairs]
        known = [pair for pair, is_defined in zip(pairs, defined, strict=True) if is_defined]
        p_values = iter(_permuted(known, permutation, draws, rng) if known else [])
        found += [next(p_values) if is_defined else float("nan") for is_defined in defined]
    return found


def _permuted(
    pairs: Sequence[tuple[Array, Array]], permutation: Permutation, draws: int, rng: np.random.Generator
) -> list[float]:
    both = [np.concatenate(pair) for pair in pairs]
    columns = [_studentising(rows) for rows in both]
    wide = np.concatenate(columns, axis=1)
    n = permutation.sizes[0]
    drawn = permutation.sums(wide[:n], wide[n:], draws, rng)
    ends = np.cumsum([some.shape[1] for some in columns])[:-1]
    split = (np.split(side, ends, axis=1) for side in drawn)
    p_values = []
    for rows, own, *permuted in zip(both, columns, *split, strict=True):
        observed = (own[:n].sum(axis=0), own[n:].sum(axis=0))
        of_same = [size * rows[0, 1] for size in permutation.sizes]
        null = _studentised(*map(_with_x, permuted, of_same))
        found = float(_studentised(*map(_with_x, observed, of_same)))
        p_values.append(p_value_of(found, null, permutation.is_exact(draws), STUDENTISED_TIE))
    return p_values


def _studentising(rows: Array) -> Array:
    """Residual, squared residual, and x where it is not the same everywhere: its sums are known else."""
    residuals, x = _residuals(rows), rows[:, 1]
    return np.column_stack([residuals, residuals**2, *([x] if x.min() != x.max() else [])])


def _with_x(sums: Array, of_same: float) -> Array:
    """Sums with those of x: they are there, or x is the same everywhere and adds up to `of_same`."""
    if sums.shape[-1] == 3:
        return sums
    return np.concatenate([sums, np.broadcast_to(of_same, (*sums.shape[:-1], 1))], axis=-1)


def minimum_detectable(
    reference: Sample,
    candidate: Sample,
    permutation: Permutation | None = None,
    level: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return the difference in R that a two-tailed test at `level` finds with probability `power`.

    By Student's t with the smaller sample's degrees of freedom. NaN where a side has fewer than two documents.

    Parameters
    ----------
    exchange
        Tells who has partners, whose errors cancel where they are alike. Default: nobody has any.
    """
    sides = [_rows(side) for side in (reference, candidate)]
    if not all(len(side) and side[:, 1].sum() for side in sides):
        return float("nan")
    influence = np.concatenate(
        [sign * _residuals(side) / side[:, 1].sum() for sign, side in zip((-1, 1), sides, strict=True)]
    )
    groups = (
        np.zeros(len(influence), dtype=int) if permutation is None or permutation.groups is None else permutation.groups
    )
    alone, of_reference = groups == 0, np.arange(len(influence)) < len(sides[0])
    together = np.bincount(np.unique(groups[~alone], return_inverse=True)[1], influence[~alone])
    strata = [influence[alone & of_reference], influence[alone & ~of_reference], together]
    fewest = min(len(some) + len(together) for some in strata[:2])
    if fewest < 2:
        return float("nan")
    variance = sum((some**2).sum() * len(some) / max(len(some) - 1, 1) for some in strata)
    quantiles = stdtrit(fewest - 1, [1 - level / 2, power]).sum()
    return float(quantiles * np.sqrt(variance))


def _rows(sample: Sample) -> Array:
    """Documents x (y, x)."""
    return np.column_stack([np.asarray(some, dtype=float) for some in sample])


def _residuals(rows: Array) -> Array:
    """Return y - R x of documents; what is rounding counts as 0, so that equal values have no spread."""
    ratio = rows[:, 0].sum() / rows[:, 1].sum()
    residuals = rows[:, 0] - ratio * rows[:, 1]
    residuals[np.abs(residuals) <= ROUNDING * np.abs(rows[:, 0]).max(initial=0)] = 0.0
    return residuals


def _studentised(first: Array, second: Array) -> Array:
    """|Difference| in units of its standard error, from sums of residual, squared residual and x; finite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = first[..., 0] / first[..., 2] - second[..., 0] / second[..., 2]
        error = np.sqrt(first[..., 1] / first[..., 2] ** 2 + second[..., 1] / second[..., 2] ** 2)
        found = np.abs(difference) / error
    return np.nan_to_num(found, nan=0.0, posinf=np.finfo(float).max)
