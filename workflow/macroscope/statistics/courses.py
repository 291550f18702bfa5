"""The course of a text: means by tenth of the texts, their simultaneous bands, and a test of equal courses.

A document has a curve for each measure: the mean of its values in each tenth. Two collections are compared by how their
curves change from the beginning, the first two tenths: a system that differs everywhere alike has no course of its own.

A band holds all points of a critic's curves at once. The largest of all studentised deviations is compared with those
after random changes (max t): resamples of units for means (symmetric bootstrap-t), and permutations of units for
differences. The test, the band of differences and the p-value of each tenth come from the same permutations. So the
test rejects if, and only if, the band leaves out 0 somewhere.

Units are prompts, whose texts are alike. If most texts of the candidate have prompts in common with real texts, the
differences within prompts are compared, and signs are flipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.bootstrap import bootstrap_sums
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import Integers, group_labels, prompt_labels
from macroscope.statistics.max_t import critical_value, flip_signs, max_t_p_values, studentise
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate

TENTHS, BEGINNING = 10, 2
"""Numbers of parts of a text, and of those that are its beginning."""
FEWEST = 8
"""Smallest number of prompts of a collection whose courses are compared."""
SMALLEST_ERROR = 0.3
"""Share of the error to which errors of resamples are raised: a resample may lack the few texts that are not at 0."""
COURSE: str = "course"
STATISTICS = (
    Statistic("course_*_tenth_*", "mean of the texts' values in a tenth; bands hold all tenths at once"),
    Statistic(
        "course_*_change_*",
        "change since the beginning of the texts, minus that of real texts; bands hold all tenths at once",
        "since their beginning, the system's texts have changed as real texts have",
        difference=False,  # part of the next one
    ),
    Statistic(
        COURSE,
        null="in every tenth, the system's texts have changed since their beginning as real texts have",
        difference=False,  # it is about the course of texts, and no part of the verdict on whole texts
    ),
)


def tenth_name(measure: str, tenth: int) -> str:
    """Return the name of the mean of a measure in a tenth, counted from 1."""
    return f"{COURSE}_{measure}_tenth_{tenth}"


def change_name(measure: str, tenth: int) -> str:
    """Return the name of the difference of a measure's change since the beginning, in a tenth counted from 1."""
    return f"{COURSE}_{measure}_change_{tenth}"


def average_by_tenth(values: Array) -> Array:
    """Return the mean of each tenth of a sequence; values at a border count in both tenths with their shares.

    Parameters
    ----------
    values
        Values of consecutive pieces of equal length (words, sentences), at least one; ... x pieces.
    """
    pieces = values.shape[-1]
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    borders = np.arange(TENTHS + 1) * pieces / TENTHS
    whole = np.minimum(borders.astype(np.int64), pieces - 1)
    at_borders = sums[..., whole] + (borders - whole) * values[..., whole]
    return np.asarray(np.diff(at_borders, axis=-1) * TENTHS / pieces)


@dataclass(frozen=True)
class Courses:
    """Courses of the documents of a collection.

    Attributes
    ----------
    keys
        `document_groups.KEYS` of the documents.
    curves
        Documents x measures x tenths.
    """

    keys: pd.DataFrame
    curves: Array

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, rows: Integers) -> "Courses":
        """Return the courses of the documents of these rows."""
        return Courses(self.keys.iloc[rows].reset_index(drop=True), self.curves[rows])

    @property
    def changes(self) -> Array:
        """Return the changes since the beginning: documents x (measures x tenths after the beginning)."""
        beginning = self.curves[..., :BEGINNING].mean(axis=-1, keepdims=True)
        return (self.curves[..., BEGINNING:] - beginning).reshape(len(self.curves), -1)


def estimate_curves(courses: Courses, measures: Sequence[str], resampling: Resampling) -> list[Estimate]:
    """Compute the mean of each measure in each tenth, with bands that hold all of them at once.

    There are none with fewer than `FEWEST` prompts.
    """
    columns_of_texts = courses.curves.reshape(len(courses), len(measures) * TENTHS)
    units = _sum_units(columns_of_texts, prompt_labels(courses.keys))
    if len(units) < FEWEST:
        return []
    names = [tenth_name(measure, tenth) for measure in measures for tenth in range(1, TENTHS + 1)]
    columns, pooled = _centre(units)
    _, errors = _means(columns.sum(axis=0), len(columns))
    sums = bootstrap_sums(columns, resampling.resamples, np.random.default_rng(resampling.seed))
    shifts, errors_of_resamples = _means(sums, len(columns))
    largest = studentise(shifts, np.maximum(errors_of_resamples, errors * SMALLEST_ERROR)).max(axis=1)
    half = critical_value(largest, resampling.confidence) * errors
    rows = zip(names, pooled, pooled - half, pooled + half, strict=True)
    return [Estimate(name, *map(float, numbers)) for name, *numbers in rows]


def compare_courses(
    reference: Courses, candidate: Courses, measures: Sequence[str], resampling: Resampling
) -> list[Estimate]:
    """Test whether the courses of two collections differ; see the module.

    Returns
    -------
    list of estimates
        The difference of each measure's change since the beginning in each later tenth (candidate - reference), with
        simultaneous bands and p-values; and `COURSE`, whose value is the largest studentised difference. With fewer
        than `FEWEST` prompts on a side, it is NaN, and there are no others.
    """
    undefined = [Estimate(COURSE, UNDEFINED)]
    if not len(reference) or not len(candidate):
        return undefined
    labels = group_labels(reference.keys, candidate.keys)
    samples = reference.changes, candidate.changes
    shared, draws = np.intersect1d(*labels), resampling.permutations
    rng = np.random.default_rng(resampling.seed)
    if 2 * np.isin(labels[1], shared).sum() >= len(candidate):
        if len(shared) < FEWEST:
            return undefined
        differences, errors, largest = _compare_within(samples, labels, shared, draws, rng)
    else:
        units = [_sum_units(*sample) for sample in zip(samples, labels, strict=True)]
        if min(map(len, units)) < FEWEST:
            return undefined
        differences, errors, largest = _compare_between(units[0], units[1], draws, rng)
    studentised = studentise(differences, errors)
    half = critical_value(largest, resampling.confidence) * errors
    p_values = max_t_p_values(studentised, largest)
    names = [change_name(measure, tenth) for measure in measures for tenth in range(BEGINNING + 1, TENTHS + 1)]
    estimates = zip(names, differences, differences - half, differences + half, p_values, strict=True)
    test = Estimate(COURSE, float(studentised.max()), p_value=float(p_values.min()))
    return [*(Estimate(name, *map(float, numbers)) for name, *numbers in estimates), test]


def _sum_units(values: Array, labels: Integers) -> Array:
    """Return the number of documents and the sums of their values for each unit: units x (1 + columns)."""
    codes = np.unique(labels, return_inverse=True)[1]
    columns = [np.bincount(codes), *(np.bincount(codes, column) for column in values.T)]
    return np.stack(columns, axis=1).astype(float)


def _compare_within(
    samples: tuple[Array, Array],
    labels: tuple[Integers, Integers],
    shared: Integers,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """Compare means over shared prompts: return differences, their errors, and the largest deviation of each flip."""
    of_sides = []
    for values, of_sample in zip(samples, labels, strict=True):
        sums = _sum_units(values, of_sample)[np.isin(np.unique(of_sample), shared)]
        of_sides.append(sums[:, 1:] / sums[:, :1])
    differences = of_sides[1] - of_sides[0]
    n = len(differences)
    errors = differences.std(axis=0, ddof=1) / np.sqrt(n)
    return differences.mean(axis=0), errors, flip_signs(differences, draws, rng).max(axis=1)


def _compare_between(first: Array, second: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Compare means over documents, whose units are permuted between the samples; returns as `_compare_within`."""
    n = len(first), len(second)
    columns, _ = _centre(np.concatenate([first, second]))

    def compare(of_first: Array, of_second: Array) -> tuple[Array, Array]:
        (mean, error), (other_mean, other_error) = _means(of_first, n[0]), _means(of_second, n[1])
        return other_mean - mean, np.hypot(error, other_error)

    permuted = Permutation(n).permuted_sums(columns[: n[0]], columns[n[0] :], draws, rng)
    differences, errors = compare(columns[: n[0]].sum(axis=0), columns[n[0] :].sum(axis=0))
    return differences, errors, studentise(*compare(*permuted)).max(axis=1)


def _centre(units: Array) -> tuple[Array, Array]:
    """Return the columns of units whose sums `_means` takes, and the means over documents, their centre."""
    sizes = units[:, :1]
    pooled = units[:, 1:].sum(axis=0) / sizes.sum()
    residuals = units[:, 1:] - pooled * sizes
    return np.concatenate([sizes, sizes**2, residuals, residuals**2, residuals * sizes], axis=1), pooled


def _means(sums: Array, units: int) -> tuple[Array, Array]:
    """Return the means of centred values over documents, and their errors over units, from sums of columns."""
    size, squared_size = sums[..., :1], sums[..., 1:2]
    residual, squared, product = np.split(sums[..., 2:], 3, axis=-1)
    mean = residual / size
    spread = squared - 2 * mean * product + mean**2 * squared_size
    return mean, np.sqrt(spread.clip(min=0) * units / (units - 1)) / size
