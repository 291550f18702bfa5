"""Tests and effect sizes of the columns of two tables of latents or scores, one row per document, of any meaning."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from macroscope.errors import MacroscopeError, nearest, no_such_file
from macroscope.options import Resampling
from macroscope.statistics import categorical
from macroscope.statistics.bootstrap import Interval
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import total_variation_test
from macroscope.statistics.document_features import Array
from macroscope.statistics.kolmogorov_smirnov import ks_interval, ks_test
from macroscope.statistics.p_values import agree_with_test, benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation, Subsets, build_permutation
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.ratio import difference_interval, minimum_detectable, ratio_interval, ratio_test
from macroscope.statistics.tidy import UNDEFINED, Estimate, sized_row
from macroscope.tables import NAMES as NAMES_OF_ROWS
from macroscope.tables import read_csv

# ---- effect sizes ----------------------------------------------------------------------------------------------------


def hedges_g(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute the difference in means, a - b, in pooled standard deviations, corrected for small samples (Hedges 1981).

    Returns
    -------
    value, low, high
        The interval is that of the delta method for any distributions, by Student's t with the smaller sample's degrees
        of freedom. NaN if a sample has fewer than two values, 0 if all values are equal, and infinite if the means
        differ and nothing varies.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    n, m = len(a), len(b)
    if n < 2 or m < 2:
        return (float("nan"),) * 3
    # Minus the first value: rounding of the mean of equal values would be their only spread.
    shifted = a - a[0], b - b[0]
    weights = np.array([n - 1, m - 1]) / (n + m - 2)
    variances = np.array([sample.var(ddof=1) for sample in shifted])
    pooled = np.sqrt(weights @ variances)
    difference = a[0] - b[0] + shifted[0].mean() - shifted[1].mean()
    if pooled == 0:
        value = 0.0 if difference == 0 else float(np.sign(difference) * np.inf)
        return value, value, value
    correction = 1 - 3 / (4 * (n + m) - 9)
    value = difference / pooled * correction
    # Influence of each value on the difference in means and on the standard deviation.
    squared = 0.0
    for sign, sample, weight, variance in zip((1, -1), shifted, weights, variances, strict=True):
        centred = sample - sample.mean()
        influence = sign * centred / pooled - difference * weight * (centred**2 - variance) / (2 * pooled**3)
        squared += (influence**2).sum() / (len(sample) * (len(sample) - 1))
    half = stdtrit(min(n, m) - 1, 0.5 + confidence / 2) * np.sqrt(squared) * correction
    return float(value), float(value - half), float(value + half)


def cliffs_delta(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute P(A > B) - P(A < B), in [-1, 1]; 0 if neither tends to be larger (Cliff 1993).

    Returns
    -------
    value, low, high
        The interval is the asymmetric one of Feng and Cliff (2004), eq. 9. If all values of one sample are above all of
        the other, it is as long as Wilson's for as many successes without a failure as the smaller sample has values.
        NaN if a sample is empty; the interval is NaN if a sample has one value only.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    n, m = len(a), len(b)
    if not n or not m:
        return (float("nan"),) * 3
    above = _dominance(a, b)
    value = float(above.mean())
    if n < 2 or m < 2:
        return value, float("nan"), float("nan")
    # The unbiased variance (Cliff 1993): sums of squares of the row means, the column means and the cells of the n x m
    # table of signs.
    rows = m**2 * ((above - value) ** 2).sum()
    columns = n**2 * ((_dominance(b, a) + value) ** 2).sum()
    cells = n * m * (_share_unequal(a, b) - value**2)
    variance = max((rows + columns - cells) / (n * m * (n - 1) * (m - 1)), (1 - value**2) / (n * m - 1))
    z = ndtri(0.5 + confidence / 2)
    if abs(value) == 1:
        least = 2 * float(wilson_interval(min(n, m), min(n, m), confidence)[0]) - 1
        return (value, least, 1.0) if value > 0 else (value, -1.0, -least)
    root = z * np.sqrt(variance * ((1 - value**2) ** 2 + z**2 * variance))
    scale = 1 - value**2 + z**2 * variance
    ends = ((value - value**3 - root) / scale, (value - value**3 + root) / scale)
    return value, float(max(ends[0], -1.0)), float(min(ends[1], 1.0))


def _dominance(a: Array, b: Array) -> Array:
    """Compute the mean sign of a_i - b over all b, for each i."""
    ordered = np.sort(b)
    return (np.searchsorted(ordered, a, "left") + np.searchsorted(ordered, a, "right") - len(b)) / len(b)


def _share_unequal(a: Array, b: Array) -> float:
    values, counts_a = np.unique(a, return_counts=True)
    n_equal = np.searchsorted(np.sort(b), values, "right") - np.searchsorted(np.sort(b), values, "left")
    return 1 - float(counts_a @ n_equal) / (len(a) * len(b))


NUMBERS = (
    Statistic("mean", "mean of the system"),
    Statistic(
        "mean_difference",
        "mean of the system minus that of real text",
        "the same mean in documents of the system and of real text, whatever their spread",
    ),
    Statistic("ks", "Kolmogorov-Smirnov distance of the two populations", "the same distribution on both sides"),
    Statistic("cliffs_delta", "P(system > real text) - P(system < real text)"),
    Statistic("hedges_g", "difference in means in standard deviations of both sides together"),
    Statistic("minimum_detectable_difference"),
)
TEXT = (
    Statistic("tvd_*", "", "the same distribution over categories on both sides", difference=False),
    *categorical.STATISTICS,
)
NAMES = ["column", "statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate", "reason"]


def read_columns(path: Path) -> pd.DataFrame:
    """Read a table: Parquet or CSV.

    Ids are read as text in both formats, so that rows are paired across them. In text columns of CSV, only an empty
    cell is missing ("None" and "NA" are categories); in numeric ones, whatever `pandas` takes for missing.

    Raises
    ------
    MacroscopeError
        If the file is missing or not a table, or two columns have the same name.
    """
    if not path.exists():
        raise no_such_file(path)
    try:
        table = _csv_columns(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
        return table.assign(id=table["id"].map(str, na_action="ignore")) if "id" in table else table
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError, pa.ArrowInvalid) as error:
        raise MacroscopeError(f"{path}: not a table, CSV or Parquet ({str(error).strip()})") from None


def _csv_columns(path: Path) -> pd.DataFrame:
    names = list(pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False).loc[0])
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise MacroscopeError(f"{path}: two columns are called {repeated!r}; rename one")
    numeric = pd.read_csv(path).select_dtypes("number")
    return read_csv(path).assign(**{name: numeric[name] for name in numeric if name not in NAMES_OF_ROWS})


def compare_columns(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    columns: Sequence[str] | None,
    resampling: Resampling,
    keys: Sequence[str] = ("id",),
) -> pd.DataFrame:
    """Compute every test of every column, with adjusted p-values.

    Parameters
    ----------
    columns
        Names of columns. Default: all numeric columns of both tables.
    resampling
        Settings of intervals and p-values.
    keys
        Columns by which rows are paired, if both tables have them; see `statistics.permutation_groups`.

    Returns
    -------
    data frame
        One row per column and statistic, as `NUMBERS` and `TEXT` declare them. Numbers: mean (of the candidate),
        mean_difference (candidate - reference), ks, hedges_g, cliffs_delta, minimum_detectable_difference (at 5 % and a
        power of 80 %). Text: tvd_sup, tvd_half_l1, and the divergences of `statistics.categorical`. `p_adjusted` is
        Benjamini-Hochberg over the table; `reason` explains values that are NaN. Values that are NaN in a table do not
        count in its n.
    """
    names = list(columns) if columns else _numbers(reference, candidate, keys)
    rows: list[dict[str, object]] = []
    subsets = Subsets(build_permutation, reference, candidate, keys)
    for name in names:
        in_reference, in_candidate = _has_value(reference, name, "reference"), _has_value(candidate, name, "candidate")
        permutation = subsets.get(in_reference, in_candidate)
        rows += _compare(
            name, reference.loc[in_reference, name], candidate.loc[in_candidate, name], resampling, permutation
        )
    table = pd.DataFrame(rows, columns=NAMES)
    table.insert(NAMES.index("p_value") + 1, "p_adjusted", benjamini_hochberg(table["p_value"]))
    return table.assign(seed=resampling.seed, signature=resampling.signature)


def _has_value(table: pd.DataFrame, name: str, role: str) -> NDArray[np.bool_]:
    """Return a mask of the rows that have a value in a column."""
    if name not in table:
        raise MacroscopeError(f"the {role} has no column '{name}'{nearest(name, list(table.columns))}")
    return table[name].notna().to_numpy()


def _numbers(reference: pd.DataFrame, candidate: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return the numeric columns that both tables have, without keys."""

    def is_number(name: str) -> bool:
        """Return whether either column is numeric; `_compare` reports an error if the other one is text."""
        columns = reference[name], candidate[name]
        numeric = [pd.api.types.is_numeric_dtype(column) for column in columns]
        return all(numeric) or any(
            is_numeric and column.notna().any() for is_numeric, column in zip(numeric, columns, strict=True)
        )

    common = [name for name in reference if name in candidate and name not in keys and is_number(name)]
    if not common:
        raise MacroscopeError("the two tables have no column of numbers in common; name columns with --column")
    return common


def _compare(
    name: str, reference: pd.Series, candidate: pd.Series, resampling: Resampling, permutation: Permutation
) -> list[dict[str, object]]:
    sizes = (len(reference), len(candidate))
    numeric = [pd.api.types.is_numeric_dtype(column) for column in (reference, candidate) if len(column)] or [True]
    if len(set(numeric)) > 1:
        kinds = ["numbers" if is_numeric else "text" for is_numeric in numeric]
        raise MacroscopeError(
            f"column '{name}' is {kinds[0]} in the reference and {kinds[1]} in the candidate; give both the same type"
        )
    if numeric[0]:
        estimates = compare_numbers(reference.to_numpy(float), candidate.to_numpy(float), resampling, permutation)
        infinite = any(np.isinf(column.to_numpy(float)).any() for column in (reference, candidate))
    else:
        estimates, infinite = (
            _compare_categories(reference.astype(str), candidate.astype(str), resampling, permutation),
            False,
        )
    return [
        {"column": name, **sized_row(estimate, sizes), "reason": _reason(estimate.value, sizes, infinite)}
        for estimate in estimates
    ]


def compare_numbers(
    reference: Array, candidate: Array, resampling: Resampling, permutation: Permutation | None = None
) -> list[Estimate]:
    """Compute each comparison of two samples of numbers; see `compare_columns`.

    Parameters
    ----------
    permutation
        Permutations between reference and candidate. Default: no row is paired.

    Returns
    -------
    list of estimates
        If a value is infinite, only statistics of order are defined: ks and cliffs_delta.
    """
    if not len(reference) or not len(candidate):
        return [Estimate(statistic.pattern, UNDEFINED) for statistic in NUMBERS]
    permutation = permutation or Permutation((len(reference), len(candidate)))
    level, resamples, draws = resampling.confidence, resampling.resamples, resampling.permutations
    rng = np.random.default_rng(resampling.seed)
    distance, low, high = ks_interval(candidate, reference, level, resamples, rng)
    ks = Estimate("ks", distance, low, high, ks_test(reference, candidate, permutation, draws, rng))
    by_order = [
        agree_with_test(ks, level),
        Estimate("cliffs_delta", *cliffs_delta(candidate, reference, level)),
    ]
    if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):
        not_of_order = [s.pattern for s in NUMBERS if s.pattern not in ("ks", "cliffs_delta")]
        return [*(Estimate(name, UNDEFINED) for name in not_of_order), *by_order]
    of_candidate, of_reference = (candidate, np.ones(len(candidate))), (reference, np.ones(len(reference)))
    difference = difference_interval(of_reference, of_candidate, permutation, level, resamples, rng)
    mean = Estimate("mean", *ratio_interval(of_candidate, level, resamples, rng))
    mean_difference = Estimate(
        "mean_difference", *difference, ratio_test(of_reference, of_candidate, permutation, draws, rng)
    )
    return [
        mean,
        agree_with_test(mean_difference, level),
        *by_order,
        Estimate("hedges_g", *hedges_g(candidate, reference, level)),
        Estimate("minimum_detectable_difference", minimum_detectable(of_reference, of_candidate, permutation)),
    ]


def mean_interval(values: Array, resampling: Resampling) -> Interval:
    """Compute the mean of a sample of numbers with its interval; NaN for an empty sample."""
    rng = np.random.default_rng(resampling.seed)
    return ratio_interval((values, np.ones(len(values))), resampling.confidence, resampling.resamples, rng)


def _compare_categories(
    reference: pd.Series, candidate: pd.Series, resampling: Resampling, permutation: Permutation
) -> list[Estimate]:
    codes, categories = pd.factorize(pd.concat([candidate, reference]))
    of_candidate, of_reference = (
        one_hot(codes_of_sample, len(categories))
        for codes_of_sample in (codes[: len(candidate)], codes[len(candidate) :])
    )
    rng = np.random.default_rng(resampling.seed)
    distances = total_variation_test(of_reference, of_candidate, permutation, resampling.permutations, rng)
    options = DivergenceOptions(permutations=resampling.permutations)
    return [
        *(Estimate(name, value, p_value=p) for name, (value, p) in distances.items()),
        *compare_categories([of_reference], [of_candidate], options, resampling, permutation),
    ]


def _reason(value: float, sizes: tuple[int, int], infinite: bool) -> str:
    if not np.isnan(value):
        return ""
    if min(sizes) == 0:
        return "no value in the " + ("reference" if sizes[0] == 0 else "candidate")
    return "infinite values" if infinite else "too few or too equal values"
