"""Tests of the columns of any two tables of latents or scores: a row a document, whatever the columns mean."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.errors import MacroscopeError, nearest
from macroscope.statistics.bootstrap import Array, bca_interval, bootstrap_sums
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.effect_sizes import cliffs_delta, hedges_g
from macroscope.statistics.kolmogorov_smirnov import ks_interval, ks_test
from macroscope.statistics.latent import Resampling
from macroscope.statistics.multiplicity import benjamini_hochberg
from macroscope.statistics.permutation import permutation_p_value
from macroscope.statistics.power import minimum_detectable_difference
from macroscope.statistics.tidy import UNDEFINED
from macroscope.statistics.total_variation import total_variation_test

NAMES = ["column", "statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate", "reason"]


def read_columns(path: Path) -> pd.DataFrame:
    """Read a table: Parquet or CSV."""
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file")
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def compare_columns(
    reference: pd.DataFrame, candidate: pd.DataFrame, columns: Sequence[str] | None, resampling: Resampling
) -> pd.DataFrame:
    """Every test of every column, with adjusted p-values.

    Parameters
    ----------
    columns
        Names; default: all numbers that both tables have.

    Returns
    -------
    data frame
        A row a column and statistic. Numbers: mean (of the candidate), mean_difference (candidate - reference, with
        BCa interval and permutation p-value), ks, hedges_g, cliffs_delta, minimum_detectable_difference (at 5 % and a
        power of 80 %). Text: tvd_sup, tvd_half_l1, and the divergences of
        `statistics.categorical`. `p_adjusted` is Benjamini-Hochberg over the table; `reason` says
        why a value is NaN. Values that are NaN in a table do not count in its n.
    """
    names = list(columns) if columns else _numbers(reference, candidate)
    for name in names:
        for side, table in (("reference", reference), ("candidate", candidate)):
            if name not in table:
                raise MacroscopeError(f"the {side} has no column '{name}'{nearest(name, list(table.columns))}")
    rows = [
        row for name in names for row in _compare(name, reference[name].dropna(), candidate[name].dropna(), resampling)
    ]
    table = pd.DataFrame(rows, columns=NAMES)
    table.insert(NAMES.index("p_value") + 1, "p_adjusted", benjamini_hochberg(table["p_value"]))
    return table.assign(seed=resampling.seed, signature=resampling.signature)


def _numbers(reference: pd.DataFrame, candidate: pd.DataFrame) -> list[str]:
    common = [name for name in reference if name in candidate and pd.api.types.is_numeric_dtype(reference[name])]
    if not common:
        raise MacroscopeError("the two tables have no column of numbers in common; name columns with --column")
    return common


def _compare(name: str, reference: pd.Series, candidate: pd.Series, resampling: Resampling) -> list[tuple[object, ...]]:
    sizes = (len(reference), len(candidate))
    if pd.api.types.is_numeric_dtype(reference):
        rows = compare_numbers(reference.to_numpy(float), candidate.to_numpy(float), resampling)
    else:
        rows = _compare_categories(reference.astype(str), candidate.astype(str), resampling)
    return [(name, statistic, *values, *sizes, _reason(values[0], sizes)) for statistic, *values in rows]


def compare_numbers(
    reference: Array, candidate: Array, resampling: Resampling
) -> list[tuple[str, float, float, float, float]]:
    """(statistic, value, low, high, p) of each comparison of two samples of numbers; see `compare_columns`."""
    if not len(reference) or not len(candidate):
        names = ("mean", "mean_difference", "ks", "hedges_g", "cliffs_delta", "minimum_detectable_difference")
        return [(name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED) for name in names]
    level = resampling.confidence
    rng = np.random.default_rng(resampling.seed)
    sums = bootstrap_sums(candidate, resampling.resamples, rng)
    p = permutation_p_value(candidate, reference, _mean, resampling.permutations, rng)
    distance, p_ks = ks_test(candidate, reference, resampling.permutations, rng)
    return [
        ("mean", float(candidate.mean()), *bca_interval(candidate, _mean, sums, level), UNDEFINED),
        ("mean_difference", *_difference(candidate, reference, sums, resampling, rng), p),
        ("ks", distance, *ks_interval(candidate, reference, level)[1:], p_ks),
        ("hedges_g", *hedges_g(candidate, reference, level), UNDEFINED),
        ("cliffs_delta", *cliffs_delta(candidate, reference, level), UNDEFINED),
        (
            "minimum_detectable_difference",
            minimum_detectable_difference(candidate, reference),
            UNDEFINED,
            UNDEFINED,
            UNDEFINED,
        ),
    ]


def mean_interval(values: Array, resampling: Resampling) -> tuple[float, float, float]:
    """Mean of a sample of numbers with its BCa interval; NaN for no number."""
    if not len(values):
        return (UNDEFINED,) * 3
    sums = bootstrap_sums(values, resampling.resamples, np.random.default_rng(resampling.seed))
    return (float(values.mean()), *bca_interval(values, _mean, sums, resampling.confidence))


def _difference(
    candidate: Array, reference: Array, sums: Array, resampling: Resampling, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Difference in means with its percentile interval over both samples."""
    others = bootstrap_sums(reference, resampling.resamples, rng)
    draws = sums[:, 0] / len(candidate) - others[:, 0] / len(reference)
    tail = (1 - resampling.confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(candidate.mean() - reference.mean()), float(low), float(high)


def _mean(sums: Array, n: Array) -> Array:
    return sums[..., 0] / n


def _compare_categories(
    reference: pd.Series, candidate: pd.Series, resampling: Resampling
) -> list[tuple[str, float, float, float, float]]:
    codes, categories = pd.factorize(pd.concat([candidate, reference]))
    ours, theirs = (one_hot(some, len(categories)) for some in (codes[: len(candidate)], codes[len(candidate) :]))
    rng = np.random.default_rng(resampling.seed)
    found = total_variation_test(ours, theirs, resampling.permutations, rng)
    options = DivergenceOptions(permutations=resampling.permutations)
    return [
        *((name, value, UNDEFINED, UNDEFINED, p) for name, (value, p) in found.items()),
        *compare_categories([theirs], [ours], options, resampling),
    ]


def _reason(value: float, sizes: tuple[int, int]) -> str:
    if not np.isnan(value):
        return ""
    if min(sizes) == 0:
        return "no value in the " + ("reference" if sizes[0] == 0 else "candidate")
    return "undefined for so few or so equal values"
