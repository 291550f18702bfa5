"""Latent NLL, latent PPL and the rest of the decomposition of deng2022, Appendix A, from the scores of a critic.

For a document x with posterior q = P_c(z|x), prior p = P_c(z) and M latent states,

    T(x) = H(q, p) = H(q) + KL(q || p),        latent PPL = exp(sum_x T(x) / sum_x M(x)),

all in nats. Lower T means more likely under the prior; a model with too little diversity can fall below the data, and
the entropy and the KL show it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.statistics.bootstrap import Array, Statistic, bootstrap_sums, percentile_interval
from macroscope.statistics.permutation import permutation_p_value


@dataclass(frozen=True)
class Resampling:
    """How uncertainty is computed; all of it goes into the signature."""

    resamples: int = 2000
    permutations: int = 10000
    confidence: float = 0.95
    seed: int = 1

    @property
    def signature(self) -> str:
        """Everything here that changes a number."""
        return f"resamples:{self.resamples}|permutations:{self.permutations}|confidence:{self.confidence}"


@dataclass(frozen=True)
class Measure:
    """A statistic of one collection: which columns it adds up, and what it makes of the sums."""

    name: str
    columns: tuple[str, ...]
    statistic: Statistic


def _mean(sums: Array, n: Array) -> Array:
    return sums[..., 0] / n


def _ratio(sums: Array, n: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 of 0 is undefined: nan
        return sums[..., 0] / sums[..., 1]


def _exp_ratio(sums: Array, n: Array) -> Array:
    return np.exp(_ratio(sums, n))


def measures(columns: Sequence[str]) -> list[Measure]:
    """Measures that a scores table allows.

    `latent_nll` is the mean T(x) in nats a document; `latent_ppl` pools over documents; `posterior_entropy` and
    `posterior_kl` are in nats a latent state. A further column nll_<variant> gives latent_ppl_<variant>; a pair
    count_<name>, of_<name> gives the share <name>, pooled over documents.
    """
    found = [Measure("latent_nll", ("nll",), _mean), Measure("latent_ppl", ("nll", "units"), _exp_ratio)]
    for column in ("entropy", "kl"):
        if column in columns:
            found.append(Measure(f"posterior_{column}", (column, "units"), _ratio))
    for column in columns:
        if column.startswith("nll_"):
            found.append(Measure(f"latent_ppl_{column.removeprefix('nll_')}", (column, "units"), _exp_ratio))
        if column.startswith("count_"):
            name = column.removeprefix("count_")
            found.append(Measure(name, (column, f"of_{name}"), _ratio))
    return found


def compare(reference: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Every measure of the candidate, with its interval, and its difference to the reference with a p-value.

    Parameters
    ----------
    reference, candidate
        Scores: `id`, `nll` (nats), `units` (M), and where defined `entropy`, `kl` (nats) and nll_<variant>.

    Returns
    -------
    data frame
        Columns statistic, value, ci_low, ci_high, p_value, n_reference, n_candidate, seed. A row `latent_ppl_ratio`
        gives candidate / reference, with an interval over both. Documents for which a measure is undefined (NaN) do
        not count in its n; a measure that is defined for no document is left out. The p-value of the reference
        against itself is NaN: there is nothing to test.
    """
    same = reference is candidate
    rows = []
    for measure in measures(list(candidate.columns)):
        r, c = _columns(reference, measure), _columns(candidate, measure)
        if len(c) == 0:
            continue
        value, low, high = _estimate(c, measure.statistic, resampling)
        rows.append((measure.name, value, low, high, _p_value(r, c, measure, resampling, same), len(r), len(c)))
        if measure.name == "latent_ppl" and not same and len(r):
            ratio = _ratio_to_reference(r, c, measure.statistic, resampling)
            rows.append(("latent_ppl_ratio", *ratio, rows[-1][4], len(r), len(c)))
    names = ["statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate"]
    return pd.DataFrame(rows, columns=names).assign(seed=resampling.seed)


def pooled(numerator: np.ndarray, denominator: np.ndarray, resampling: Resampling) -> tuple[float, float, float]:
    """exp(sum numerator / sum denominator) with its interval: a perplexity from per-document NLL and counts."""
    rows = np.column_stack([numerator, denominator]).astype(float)
    return _estimate(rows, _exp_ratio, resampling)


def _columns(scores: pd.DataFrame, measure: Measure) -> Array:
    if any(column not in scores for column in measure.columns):
        return np.empty((0, len(measure.columns)))
    rows = scores[list(measure.columns)].to_numpy(dtype=float)
    return rows[~np.isnan(rows).any(axis=1)]


def _estimate(rows: Array, statistic: Statistic, resampling: Resampling) -> tuple[float, float, float]:
    value = float(statistic(rows.sum(axis=0), np.asarray(len(rows))))
    rng = np.random.default_rng(resampling.seed)
    sums = bootstrap_sums(rows, resampling.resamples, rng)
    low, high = percentile_interval(statistic(sums, np.full(len(sums), len(rows))), resampling.confidence)
    return value, low, high


def _p_value(r: Array, c: Array, measure: Measure, resampling: Resampling, same: bool) -> float:
    if same or len(r) == 0:
        return float("nan")
    rng = np.random.default_rng(resampling.seed)
    return permutation_p_value(c, r, measure.statistic, resampling.permutations, rng)


def _ratio_to_reference(r: Array, c: Array, statistic: Statistic, resampling: Resampling) -> tuple[float, float, float]:
    rng = np.random.default_rng(resampling.seed)
    draws = [
        statistic(bootstrap_sums(rows, resampling.resamples, rng), np.full(resampling.resamples, len(rows)))
        for rows in (c, r)
    ]
    value = float(statistic(c.sum(axis=0), np.asarray(len(c))) / statistic(r.sum(axis=0), np.asarray(len(r))))
    low, high = percentile_interval(draws[0] / draws[1], resampling.confidence)
    return value, low, high
