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
from numpy.typing import NDArray

from macroscope.statistics.bootstrap_t import Interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.permutation_groups import SubsetPermutations
from macroscope.statistics.proportions import share_interval
from macroscope.statistics.ratio import (
    Sample,
    difference_interval,
    minimum_detectable,
    ratio_interval,
    ratio_test,
)
from macroscope.statistics.tidy import UNDEFINED, value_only

MEAN, POOLED, PERPLEXITY, SHARE = "mean", "pooled", "perplexity", "share"
"""What a measure is: a mean over documents; a ratio of sums; its exponential; a share, pooled over documents."""
_A_STATE = ("entropy", "kl", "margin", "resolved")
_NULL = "the same {} in documents of the system and of real text, whatever their spread"
STATISTICS = (
    Statistic("latent_nll", "mean T(x) of the system", _NULL.format("mean T(x)"), difference=False),
    Statistic("latent_ppl", "latent PPL of the system", _NULL.format("latent PPL")),
    Statistic("latent_ppl_ratio", "latent PPL of the system over that of real text"),
    Statistic("latent_ppl_minimum_detectable"),
    Statistic("latent_ppl_*", "latent PPL of the system", _NULL.format("latent PPL"), difference=False),
    Statistic("posterior_*", "mean a latent state of the system", _NULL.format("mean a latent state")),
    Statistic("*_share", "share in the system", _NULL.format("share")),
)


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
    """A statistic of one collection.

    Attributes
    ----------
    name
        Of the statistic.
    numerator, denominator
        Columns that are added up over documents; no denominator: documents are counted.
    kind
        `MEAN`, `POOLED`, `PERPLEXITY` or `SHARE`.
    """

    name: str
    numerator: str
    denominator: str
    kind: str

    @property
    def columns(self) -> list[str]:
        """Columns that it needs."""
        return [name for name in (self.numerator, self.denominator) if name]


def measures(columns: Sequence[str]) -> list[Measure]:
    """Measures that a scores table allows.

    `latent_nll` is the mean T(x) in nats a document; `latent_ppl` pools over documents; `posterior_entropy` and
    `posterior_kl` are in nats a latent state, `posterior_margin` is the mean lead of the most probable one, and
    `posterior_resolved` the mean share of its prior variance that the text takes away. A further column
    nll_<variant> gives latent_ppl_<variant>, over the column units_<variant> where there is one; a pair count_<name>,
    of_<name> gives <name>_share, pooled over documents.
    """
    found = [Measure("latent_nll", "nll", "", MEAN), Measure("latent_ppl", "nll", "units", PERPLEXITY)]
    found += [Measure(f"posterior_{name}", name, "units", POOLED) for name in _A_STATE if name in columns]
    for column in columns:
        if column.startswith("nll_"):
            variant = column.removeprefix("nll_")
            units = f"units_{variant}" if f"units_{variant}" in columns else "units"
            found.append(Measure(f"latent_ppl_{variant}", column, units, PERPLEXITY))
        if column.startswith("count_"):
            name = column.removeprefix("count_")
            found.append(Measure(f"{name}_share", column, f"of_{name}", SHARE))
    return found


def compare(reference: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Every measure of the candidate, with its interval, and its difference to the reference with a p-value.

    Parameters
    ----------
    reference, candidate
        Scores: `id`, `nll` (nats), `units` (M), and where defined `entropy`, `kl` (nats) and nll_<variant>. Documents
        that belong together (`statistics.permutation_groups`) are exchanged with each other only, and resampled together.

    Returns
    -------
    data frame
        Columns statistic, value, ci_low, ci_high, p_value, n_reference, n_candidate, seed, reason. A row
        `latent_ppl_ratio` gives candidate / reference, with an interval over both, and `latent_ppl_minimum_detectable`
        the smallest ratio > 1 that a comparison of these documents finds at 5 % with a power of 80 %. Documents for
        which a measure is undefined (NaN) do not count in its n; a measure that is defined for no document is left out.
        The p-value of the reference against itself is NaN: there is nothing to test.
    """
    same = reference is candidate
    rows = []
    subset_permutations = SubsetPermutations(reference, candidate)
    for measure in measures(list(candidate.columns)):
        known = defined_for(reference, measure), defined_for(candidate, measure)
        sizes = (int(known[0].sum()), int(known[1].sum()))
        if not sizes[1]:
            continue
        other, sample = sample_of(reference, measure, known[0]), sample_of(candidate, measure, known[1])
        value, low, high = _estimate(sample, measure.kind, resampling)
        p = UNDEFINED
        if not same and sizes[0]:
            permutation = subset_permutations.of(*known)
            rng = np.random.default_rng(resampling.seed)
            p = ratio_test(other, sample, permutation, resampling.permutations, rng)
        rows.append((measure.name, value, low, high, p, *sizes))
        if measure.name == "latent_ppl" and not same and sizes[0]:
            rng = np.random.default_rng(resampling.seed)
            found = difference_interval(other, sample, permutation, resampling.confidence, resampling.resamples, rng)
            ratio, least, most = (float(some) for some in np.exp(found))
            rows.append(("latent_ppl_ratio", ratio, least, most, UNDEFINED, *sizes))
            smallest = float(np.exp(minimum_detectable(other, sample, permutation)))
            rows.append((*value_only("latent_ppl_minimum_detectable", smallest), *sizes))
    names = ["statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate"]
    table = pd.DataFrame(rows, columns=names).assign(seed=resampling.seed)
    return table.assign(reason=np.where(table["value"].isna(), "nothing to take a share or a spread of", ""))


def pooled(numerator: np.ndarray, denominator: np.ndarray, resampling: Resampling) -> Interval:
    """exp(sum numerator / sum denominator) with its interval: a perplexity from per-document NLL and counts."""
    return _estimate((numerator, denominator), PERPLEXITY, resampling)


def defined_for(scores: pd.DataFrame, measure: Measure) -> NDArray[np.bool_]:
    """Which documents have the measure."""
    if any(column not in scores for column in measure.columns):
        return np.zeros(len(scores), dtype=bool)
    return scores[measure.columns].notna().all(axis=1).to_numpy()


def sample_of(scores: pd.DataFrame, measure: Measure, known: NDArray[np.bool_]) -> Sample:
    """Numerator and denominator of each document that has the measure."""
    if measure.numerator not in scores:
        return np.empty(0), np.empty(0)
    y = scores[measure.numerator].to_numpy(float)[known]
    return y, scores[measure.denominator].to_numpy(float)[known] if measure.denominator else np.ones(len(y))


def _estimate(sample: Sample, kind: str, resampling: Resampling) -> Interval:
    if kind == SHARE:
        return share_interval(*sample, resampling.confidence)
    rng = np.random.default_rng(resampling.seed)
    value, low, high = ratio_interval(sample, resampling.confidence, resampling.resamples, rng)
    if kind == PERPLEXITY:
        with np.errstate(over="ignore"):  # an end beyond all numbers is infinite
            value, low, high = (float(some) for some in np.exp([value, low, high]))
    return value, low, high
