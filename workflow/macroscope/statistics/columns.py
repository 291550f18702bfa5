"""Tests of the columns of any two tables of latents or scores: a row a document, whatever the columns mean."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError, nearest
from macroscope.statistics import categorical
from macroscope.statistics.bootstrap_t import Interval
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.effect_sizes import cliffs_delta, hedges_g
from macroscope.statistics.kolmogorov_smirnov import ks_interval, ks_test
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation, SubsetPermutations
from macroscope.statistics.ratio import (
    difference_interval,
    minimum_detectable,
    ratio_interval,
    ratio_test,
)
from macroscope.statistics.tidy import UNDEFINED, Row, undefined, value_only
from macroscope.statistics.total_variation import total_variation_test
from macroscope.tables import NAMES as NAMES_OF_ROWS
from macroscope.tables import read_csv

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

    Ids are texts in either, so that partners are found in both. In CSV, nothing but an empty cell is missing in a
    column of text ("None" and "NA" are categories); in one of numbers, what `pandas` takes for it is.

    Raises
    ------
    MacroscopeError
        Where it is no table, or two columns have one name.
    """
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file")
    try:
        table = _csv_columns(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
        return table.assign(id=table["id"].map(str, na_action="ignore")) if "id" in table else table
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError, pa.ArrowInvalid) as error:
        raise MacroscopeError(f"{path}: not a table, CSV or Parquet ({str(error).strip()})") from None


def _csv_columns(path: Path) -> pd.DataFrame:
    names = list(pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False).loc[0])
    if double := next((name for name in names if names.count(name) > 1), None):
        raise MacroscopeError(f"{path}: two columns are called {double!r}; rename one")
    numbers = pd.read_csv(path).select_dtypes("number")
    return read_csv(path).assign(**{name: numbers[name] for name in numbers if name not in NAMES_OF_ROWS})


def compare_columns(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    columns: Sequence[str] | None,
    resampling: Resampling,
    keys: Sequence[str] = ("id",),
) -> pd.DataFrame:
    """Every test of every column, with adjusted p-values.

    Parameters
    ----------
    columns
        Names; default: all numbers that both tables have.
    keys
        Columns that tell which rows are partners, where both tables have them; see `statistics.permutation_groups`.

    Returns
    -------
    data frame
        A row a column and statistic, as `NUMBERS` and `TEXT` declare them. Numbers: mean (of the candidate),
        mean_difference (candidate - reference), ks, hedges_g, cliffs_delta, minimum_detectable_difference (at 5 % and a
        power of 80 %). Text: tvd_sup, tvd_half_l1, and the divergences of `statistics.categorical`. `p_adjusted` is
        Benjamini-Hochberg over the table; `reason` says why a value is NaN. Values that are NaN in a table do not count
        in its n.
    """
    names = list(columns) if columns else _numbers(reference, candidate, keys)
    rows: list[tuple[object, ...]] = []
    subset_permutations = SubsetPermutations(reference, candidate, keys)
    for name in names:
        theirs, ours = _known(reference, name, "reference"), _known(candidate, name, "candidate")
        permutation = subset_permutations.of(theirs, ours)
        rows += _compare(name, reference.loc[theirs, name], candidate.loc[ours, name], resampling, permutation)
    table = pd.DataFrame(rows, columns=NAMES)
    table.insert(NAMES.index("p_value") + 1, "p_adjusted", benjamini_hochberg(table["p_value"]))
    return table.assign(seed=resampling.seed, signature=resampling.signature)


def _known(table: pd.DataFrame, name: str, side: str) -> NDArray[np.bool_]:
    """Which rows have a value in a column."""
    if name not in table:
        raise MacroscopeError(f"the {side} has no column '{name}'{nearest(name, list(table.columns))}")
    return table[name].notna().to_numpy()


def _numbers(reference: pd.DataFrame, candidate: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Columns of numbers that both tables have; what names a row is none."""

    def is_number(name: str) -> bool:
        """Whether either side holds numbers: where the other holds text, comparing them says so."""
        sides = reference[name], candidate[name]
        numeric = [pd.api.types.is_numeric_dtype(side) for side in sides]
        return all(numeric) or any(some and side.notna().any() for some, side in zip(numeric, sides, strict=True))

    common = [name for name in reference if name in candidate and name not in keys and is_number(name)]
    if not common:
        raise MacroscopeError("the two tables have no column of numbers in common; name columns with --column")
    return common


def _compare(
    name: str, reference: pd.Series, candidate: pd.Series, resampling: Resampling, permutation: Permutation
) -> list[tuple[object, ...]]:
    sizes = (len(reference), len(candidate))
    numeric = [pd.api.types.is_numeric_dtype(side) for side in (reference, candidate) if len(side)] or [True]
    if len(set(numeric)) > 1:
        kinds = ["numbers" if some else "text" for some in numeric]
        raise MacroscopeError(
            f"column '{name}' is {kinds[0]} in the reference and {kinds[1]} in the candidate; give both the same type"
        )
    if numeric[0]:
        rows = compare_numbers(reference.to_numpy(float), candidate.to_numpy(float), resampling, permutation)
        infinite = any(np.isinf(side.to_numpy(float)).any() for side in (reference, candidate))
    else:
        rows, infinite = (
            _compare_categories(reference.astype(str), candidate.astype(str), resampling, permutation),
            False,
        )
    return [(name, statistic, *values, *sizes, _reason(values[0], sizes, infinite)) for statistic, *values in rows]


def compare_numbers(
    reference: Array, candidate: Array, resampling: Resampling, permutation: Permutation | None = None
) -> list[Row]:
    """(statistic, value, low, high, p) of each comparison of two samples of numbers; see `compare_columns`.

    Parameters
    ----------
    exchange
        Of reference and candidate; default: nobody has partners. Where a value is infinite, only what looks at order
        is defined: ks and cliffs_delta.
    """
    if not len(reference) or not len(candidate):
        return [undefined(statistic.pattern) for statistic in NUMBERS]
    permutation = permutation or Permutation((len(reference), len(candidate)))
    level, resamples, draws = resampling.confidence, resampling.resamples, resampling.permutations
    rng = np.random.default_rng(resampling.seed)
    distance, low, high = ks_interval(candidate, reference, level, resamples, rng)
    by_order: list[Row] = [
        ("ks", distance, low, high, ks_test(reference, candidate, permutation, draws, rng)),
        ("cliffs_delta", *cliffs_delta(candidate, reference, level), UNDEFINED),
    ]
    if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):
        others = [s.pattern for s in NUMBERS if s.pattern not in ("ks", "cliffs_delta")]
        return [*map(undefined, others), *by_order]
    ours, theirs = (candidate, np.ones(len(candidate))), (reference, np.ones(len(reference)))
    difference = difference_interval(theirs, ours, permutation, level, resamples, rng)
    return [
        ("mean", *ratio_interval(ours, level, resamples, rng), UNDEFINED),
        ("mean_difference", *difference, ratio_test(theirs, ours, permutation, draws, rng)),
        *by_order,
        ("hedges_g", *hedges_g(candidate, reference, level), UNDEFINED),
        value_only("minimum_detectable_difference", minimum_detectable(theirs, ours, permutation)),
    ]


def mean_interval(values: Array, resampling: Resampling) -> Interval:
    """Mean of a sample of numbers with its interval; NaN for no number."""
    rng = np.random.default_rng(resampling.seed)
    return ratio_interval((values, np.ones(len(values))), resampling.confidence, resampling.resamples, rng)


def _compare_categories(
    reference: pd.Series, candidate: pd.Series, resampling: Resampling, permutation: Permutation
) -> list[Row]:
    codes, categories = pd.factorize(pd.concat([candidate, reference]))
    ours, theirs = (one_hot(some, len(categories)) for some in (codes[: len(candidate)], codes[len(candidate) :]))
    rng = np.random.default_rng(resampling.seed)
    found = total_variation_test(theirs, ours, permutation, resampling.permutations, rng)
    options = DivergenceOptions(permutations=resampling.permutations)
    return [
        *((name, value, UNDEFINED, UNDEFINED, p) for name, (value, p) in found.items()),
        *compare_categories([theirs], [ours], options, resampling, permutation),
    ]


def _reason(value: float, sizes: tuple[int, int], infinite: bool) -> str:
    if not np.isnan(value):
        return ""
    if min(sizes) == 0:
        return "no value in the " + ("reference" if sizes[0] == 0 else "candidate")
    return "infinite values" if infinite else "undefined for so few or so equal values"
