"""Means, and ratios of sums over documents such as the latent PPL: their intervals, and tests of a difference.

R = sum y / sum x over documents, a mean if every x is 1. Its standard error is that of the mean residual y - R x, so R
and its error are functions of sums over documents, which resampling only adds again.

Intervals are studentised (`bootstrap`), and so are tests, which permute documents and compare studentised differences
(Janssen 1997; Chung and Romano 2013). They are exact if the two samples have the same distribution, and have the right
level if only R is the same and spread or size differ; a test of the difference itself would be a test of equal
distributions.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import stdtrit

from macroscope.statistics.bootstrap import ROUNDING, Interval, Ratios, bootstrap_t_intervals
from macroscope.statistics.document_features import Array, Sample
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import Permutation

STUDENTISED_TIE = 0.005
"""Difference of studentised differences up to which they count as equal.

If samples differ in one document only, the studentised difference is about 1, whichever sample has it; permutations
differ by noise of the standard error.
"""
_CELLS_AT_ONCE = 1 << 25
"""Numbers of the documents of several tests that are permuted together: 256 MB."""


def ratio_interval(sample: Sample, confidence: float, resamples: int, rng: np.random.Generator) -> Interval:
    """Compute R = sum y / sum x with its bootstrap-t interval over documents.

    Returns
    -------
    value, low, high
        NaN without a document or if all x are 0. The ends are NaN with fewer than two documents, or if no residual
        differs from 0, since the error is then unknown.
    """
    rows = _rows(sample)
    [interval] = bootstrap_t_intervals([Ratios((rows,), (len(rows),), (1.0,))], confidence, resamples, rng)
    return interval


def difference_interval(
    reference: Sample,
    candidate: Sample,
    permutation: Permutation,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Compute R of the candidate minus that of the reference, with its bootstrap-t interval; see `ratio_interval`.

    Parameters
    ----------
    permutation
        Pairing of documents: a group of paired documents is resampled as one.
    """
    [interval] = difference_intervals([reference], [candidate], permutation, confidence, resamples, rng)
    return interval


def difference_intervals(
    reference: Sequence[Sample],
    candidate: Sequence[Sample],
    permutation: Permutation,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> list[Interval]:
    """Compute `difference_interval` of several numbers of the same documents, resampled once for all of them."""
    n = permutation.sizes[0]
    groups = np.zeros(permutation.units, dtype=int) if permutation.groups is None else permutation.groups
    is_paired = groups > 0
    codes, group = np.unique(groups[is_paired], return_inverse=True)
    sizes = tuple(int((~flags).sum()) + len(codes) for flags in (is_paired[:n], is_paired[n:]))

    def differences() -> Iterator[Ratios]:
        for pair in zip(map(_rows, reference), map(_rows, candidate), strict=True):
            of_reference, of_candidate = np.pad(pair[0], ((0, 0), (0, 2))), np.pad(pair[1], ((0, 0), (2, 0)))
            sums_of_groups = np.zeros((len(codes), 4))
            np.add.at(sums_of_groups, group, np.concatenate([of_reference[is_paired[:n]], of_candidate[is_paired[n:]]]))
            strata = (of_reference[~is_paired[:n]], of_candidate[~is_paired[n:]], sums_of_groups)
            yield Ratios(tuple(stratum for stratum in strata if len(stratum)), sizes, (-1.0, 1.0))

    return bootstrap_t_intervals(differences(), confidence, resamples, rng)


def ratio_test(
    reference: Sample, candidate: Sample, permutation: Permutation, draws: int, rng: np.random.Generator
) -> float:
    """Compute the two-tailed p-value of equal R in two samples, by permutation of documents; studentised.

    The standard error is that under the null: of residuals from R of both samples together, which no permutation
    changes.

    Returns
    -------
    p in (0, 1]
        NaN if R of a sample is undefined; 1 if nothing differs.
    """
    [p_value] = ratio_tests([reference], [candidate], permutation, draws, rng)
    return p_value


def ratio_tests(
    reference: Sequence[Sample],
    candidate: Sequence[Sample],
    permutation: Permutation,
    draws: int,
    rng: np.random.Generator,
) -> list[float]:
    """Compute `ratio_test` of several numbers of the same documents, permuted once for all of them."""
    at_once = max(1, _CELLS_AT_ONCE // (3 * max(1, permutation.units)))
    all_p_values: list[float] = []
    for start in range(0, len(reference), at_once):
        batch = slice(start, start + at_once)
        pairs = list(zip(map(_rows, reference[batch]), map(_rows, candidate[batch]), strict=True))
        defined = [all(rows[:, 1].sum() for rows in pair) for pair in pairs]
        defined_pairs = [pair for pair, is_defined in zip(pairs, defined, strict=True) if is_defined]
        p_values = iter(_permuted(defined_pairs, permutation, draws, rng) if defined_pairs else [])
        all_p_values += [next(p_values) if is_defined else float("nan") for is_defined in defined]
    return all_p_values


def _permuted(
    pairs: Sequence[tuple[Array, Array]], permutation: Permutation, draws: int, rng: np.random.Generator
) -> list[float]:
    both = [np.concatenate(pair) for pair in pairs]
    columns = [_studentising(rows) for rows in both]
    wide = np.concatenate(columns, axis=1)
    n = permutation.sizes[0]
    sums = permutation.permuted_sums(wide[:n], wide[n:], draws, rng)
    ends = np.cumsum([columns_of_pair.shape[1] for columns_of_pair in columns])[:-1]
    split = (np.split(sums_of_sample, ends, axis=1) for sums_of_sample in sums)
    p_values = []
    for rows, columns_of_pair, *permuted in zip(both, columns, *split, strict=True):
        observed = (columns_of_pair[:n].sum(axis=0), columns_of_pair[n:].sum(axis=0))
        constant_sum = [size * rows[0, 1] for size in permutation.sizes]
        null = _studentised(*map(_with_x, permuted, constant_sum))
        statistic = float(_studentised(*map(_with_x, observed, constant_sum)))
        p_values.append(p_value_from_null(statistic, null, permutation.is_exact(draws), STUDENTISED_TIE))
    return p_values


def _studentising(rows: Array) -> Array:
    """Return residual, squared residual, and x unless it is constant, since its sums are then known."""
    residuals, x = _residuals(rows), rows[:, 1]
    return np.column_stack([residuals, residuals**2, *([x] if x.min() != x.max() else [])])


def _with_x(sums: Array, constant_sum: float) -> Array:
    """Append the sums of x if they are missing: x is then constant and adds up to `constant_sum`."""
    if sums.shape[-1] == 3:
        return sums
    return np.concatenate([sums, np.broadcast_to(constant_sum, (*sums.shape[:-1], 1))], axis=-1)


def minimum_detectable(
    reference: Sample,
    candidate: Sample,
    permutation: Permutation | None = None,
    level: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return the difference in R that a two-tailed test at `level` finds with probability `power`.

    By Student's t with the smaller sample's degrees of freedom. NaN if a sample has fewer than two documents.

    Parameters
    ----------
    permutation
        Pairing of documents, whose common errors cancel. Default: no document is paired.
    """
    samples = [_rows(rows) for rows in (reference, candidate)]
    if not all(len(rows) and rows[:, 1].sum() for rows in samples):
        return float("nan")
    influence = np.concatenate(
        [sign * _residuals(rows) / rows[:, 1].sum() for sign, rows in zip((-1, 1), samples, strict=True)]
    )
    groups = (
        np.zeros(len(influence), dtype=int) if permutation is None or permutation.groups is None else permutation.groups
    )
    is_unpaired, of_reference = groups == 0, np.arange(len(influence)) < len(samples[0])
    sums_of_groups = np.bincount(np.unique(groups[~is_unpaired], return_inverse=True)[1], influence[~is_unpaired])
    strata = [influence[is_unpaired & of_reference], influence[is_unpaired & ~of_reference], sums_of_groups]
    fewest = min(len(stratum) + len(sums_of_groups) for stratum in strata[:2])
    if fewest < 2:
        return float("nan")
    variance = sum((stratum**2).sum() * len(stratum) / max(len(stratum) - 1, 1) for stratum in strata)
    quantiles = stdtrit(fewest - 1, [1 - level / 2, power]).sum()
    return float(quantiles * np.sqrt(variance))


def _rows(sample: Sample) -> Array:
    """Return documents x (y, x)."""
    return np.column_stack([np.asarray(values, dtype=float) for values in sample])


def _residuals(rows: Array) -> Array:
    """Return y - R x of documents; rounding errors count as 0, so that equal values have no spread."""
    ratio = rows[:, 0].sum() / rows[:, 1].sum()
    residuals = rows[:, 0] - ratio * rows[:, 1]
    residuals[np.abs(residuals) <= ROUNDING * np.abs(rows[:, 0]).max(initial=0)] = 0.0
    return residuals


def _studentised(first: Array, second: Array) -> Array:
    """Compute |difference| in units of its standard error, from sums of residual, squared residual and x; finite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = first[..., 0] / first[..., 2] - second[..., 0] / second[..., 2]
        error = np.sqrt(first[..., 1] / first[..., 2] ** 2 + second[..., 1] / second[..., 2] ** 2)
        studentised = np.abs(difference) / error
    return np.nan_to_num(studentised, nan=0.0, posinf=np.finfo(float).max)
