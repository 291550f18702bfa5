"""Latent NLL, latent PPL and their decomposition (deng2022, Appendix A), from the scores of a critic.

`compare_score_files` compares two tables of scores: T(x), categories and further numbers, as a tidy table.

For a document x with posterior q = P_c(z|x), prior p = P_c(z) and M latent states,

    T(x) = H(q, p) = H(q) + KL(q || p),        latent PPL = exp(sum_x T(x) / sum_x M(x)),

all in nats. Lower T means more likely under the prior. A model with too little diversity can be below the data; the
entropy and the KL show it. If the likelihood is known, so is log P(x) = E_q log P(x|z) - KL(q || p) of an exact
posterior; with an approximate one, this is a lower bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.options import Resampling
from macroscope.statistics.bootstrap import Interval
from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.columns import compare_columns, mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_groups import KEYS, sum_by_prompt
from macroscope.statistics.p_values import agree_with_test
from macroscope.statistics.permutation_groups import Subsets, build_permutation, build_units
from macroscope.statistics.proportions import share_interval
from macroscope.statistics.ratio import Sample, difference_interval, minimum_detectable, ratio_interval, ratio_test
from macroscope.statistics.score_tables import (
    CATEGORIES,
    list_document_numbers,
    read_category_counts,
    read_document_numbers,
    read_scores,
)
from macroscope.statistics.tidy import (
    NO_PAIRS,
    ROWS,
    UNDEFINED,
    Estimate,
    find_pairs,
    rows_table,
    sized_row,
    write_statistics,
)

MEAN, POOLED, PERPLEXITY, SHARE = "mean", "pooled", "perplexity", "share"
"""Kinds of a measure: a mean over documents; a ratio of sums; its exponential; a share, pooled over documents."""
_PER_STATE = ("entropy", "kl", "margin", "resolved")
_PER_DOCUMENT = ("log_likelihood", "log_evidence_bound")
_NULL = "the same {} in documents of the system and of real text, whatever their spread"
STATISTICS = (
    Statistic("latent_nll*", "mean T(x) of the system", _NULL.format("mean T(x)"), difference=False),
    Statistic("latent_ppl", "latent PPL of the system", _NULL.format("latent PPL")),
    Statistic("latent_ppl_ratio", "latent PPL of the system over that of real text"),
    Statistic("latent_ppl_minimum_detectable"),
    Statistic("latent_ppl_*", "latent PPL of the system", _NULL.format("latent PPL"), difference=False),
    Statistic("log_*", "mean of the system's documents", _NULL.format("mean"), difference=False),
    Statistic("posterior_*", "mean a latent state of the system", _NULL.format("mean a latent state")),
    Statistic("*_share", "share in the system", _NULL.format("share")),
)


@dataclass(frozen=True)
class Measure:
    """Statistic of one collection.

    Attributes
    ----------
    name
        Name of the statistic.
    numerator, denominator
        Columns that are summed over documents; without a denominator, documents are counted.
    kind
        `MEAN`, `POOLED`, `PERPLEXITY` or `SHARE`.
    least
        Smallest possible value. Estimates below it become it if their interval reaches it, and are undefined otherwise.
    """

    name: str
    numerator: str
    denominator: str
    kind: str
    least: float = -np.inf

    @property
    def columns(self) -> list[str]:
        """Return the columns that the measure needs."""
        return [name for name in (self.numerator, self.denominator) if name]


def list_measures(columns: Sequence[str]) -> list[Measure]:
    """List the measures that the columns of a scores table allow.

    `latent_nll` is the mean T(x) in nats per document; `latent_ppl` pools over documents. `posterior_entropy` and
    `posterior_kl` are in nats per latent state, `posterior_margin` is the mean lead of the most probable state, and
    `posterior_resolved` the mean share of its prior variance that the text removes. `log_likelihood` is the mean
    E_q log P(x|z) in nats per document, and `log_evidence_bound` that of the lower bound of log P(x). A further column
    nll_<variant> gives latent_ppl_<variant>, over the column units_<variant> if there is one, and nll_published gives
    `latent_nll_published` as well. A pair count_<name>, of_<name> gives <name>_share, pooled over documents.
    """
    measures = [Measure("latent_nll", "nll", "", MEAN), Measure("latent_ppl", "nll", "units", PERPLEXITY)]
    measures += [Measure(f"posterior_{name}", name, "units", POOLED) for name in _PER_STATE if name in columns]
    measures += [Measure(name, name, "", MEAN) for name in _PER_DOCUMENT if name in columns]
    if "nll_published" in columns:
        measures.append(Measure("latent_nll_published", "nll_published", "", MEAN))
    for column in columns:
        if column.startswith("nll_"):
            variant = column.removeprefix("nll_")
            units = f"units_{variant}" if f"units_{variant}" in columns else "units"
            # A correction of discrete states is a difference of estimates, which may pass the least possible PPL.
            least = 1.0 if variant == "corrected" else -np.inf
            measures.append(Measure(f"latent_ppl_{variant}", column, units, PERPLEXITY, least))
        if column.startswith("count_"):
            name = column.removeprefix("count_")
            measures.append(Measure(f"{name}_share", column, f"of_{name}", SHARE))
    return measures


def compare_scores(reference: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compute every measure of the candidate with its interval, and test its difference from the reference.

    Parameters
    ----------
    reference, candidate
        Scores: `id`, `nll` (nats), `units` (M), and, if defined, `entropy`, `kl` (nats) and nll_<variant>. Paired
        documents (`statistics.permutation_groups`) are permuted with each other only, and resampled together, and so
        are the texts of one prompt.

    Returns
    -------
    data frame
        Columns statistic, value, ci_low, ci_high, p_value, n_reference, n_candidate, seed, reason. A row
        `latent_ppl_ratio` gives candidate / reference, with an interval over both, and `latent_ppl_minimum_detectable`
        the smallest ratio > 1 that a comparison of these documents finds at 5 % with a power of 80 %. Documents for
        which a measure is undefined (NaN) do not count in its n; a measure that is defined for no document is left out.
        The p-value of the reference against itself is NaN, since there is nothing to test.
    """
    is_reference = reference is candidate
    rows = []
    subsets = Subsets(build_units, reference, candidate)
    for measure in list_measures(list(candidate.columns)):
        has_values = has_measure(reference, measure), has_measure(candidate, measure)
        sizes = (int(has_values[0].sum()), int(has_values[1].sum()))
        if not sizes[1]:
            continue
        reference_sample, candidate_sample = (
            measure_sample(reference, measure, has_values[0]),
            measure_sample(candidate, measure, has_values[1]),
        )
        value, low, high = _restrict(
            _estimate(sum_by_prompt(candidate[has_values[1]], candidate_sample), measure.kind, resampling),
            measure.least,
        )
        p = UNDEFINED
        if not is_reference and sizes[0]:
            units, permutation = subsets.get(*has_values)
            of_units = units.sums(reference_sample, candidate_sample)
            rng = np.random.default_rng(resampling.seed)
            p = ratio_test(*of_units, permutation, resampling.permutations, rng)
        rows.append(sized_row(Estimate(measure.name, value, low, high, p if np.isfinite(value) else UNDEFINED), sizes))
        if measure.name == "latent_ppl" and not is_reference and sizes[0]:
            rng = np.random.default_rng(resampling.seed)
            log_ratio = difference_interval(*of_units, permutation, resampling.confidence, resampling.resamples, rng)
            tested = agree_with_test(Estimate("log_ratio", *log_ratio, p), resampling.confidence)
            ratio, least, most = (float(number) for number in np.exp([tested.value, tested.ci_low, tested.ci_high]))
            rows.append(sized_row(Estimate("latent_ppl_ratio", ratio, least, most), sizes))
            smallest = float(np.exp(minimum_detectable(*of_units, permutation)))
            rows.append(sized_row(Estimate("latent_ppl_minimum_detectable", smallest), sizes))
    names = [name for name in ROWS if name != "reason"]
    table = pd.DataFrame(rows, columns=names).assign(seed=resampling.seed)
    return table.assign(reason=[_reason(row.statistic, row.value) for row in table.itertuples()])


def _restrict(interval: Interval, least: float) -> Interval:
    """Return a value and an interval not below the smallest possible value; NaN if the whole interval is below it."""
    value, low, high = interval
    if value >= least:
        return value, max(low, least), high
    return (least, least, high) if high >= least else (UNDEFINED, UNDEFINED, UNDEFINED)


def _reason(statistic: str, value: float) -> str:
    if not np.isnan(value):
        return ""
    if statistic == "latent_ppl_corrected":
        return "the correction gives less than 1: the classifier errs less on these texts than on validation sections"
    return "nothing to take a share or a spread of"


def pooled_perplexity(numerator: np.ndarray, denominator: np.ndarray, resampling: Resampling) -> Interval:
    """Compute exp(sum numerator / sum denominator) with its interval, from per-document NLL and counts."""
    return _estimate((numerator, denominator), PERPLEXITY, resampling)


def has_measure(scores: pd.DataFrame, measure: Measure) -> NDArray[np.bool_]:
    """Return a mask of the documents that have the measure."""
    if any(column not in scores for column in measure.columns):
        return np.zeros(len(scores), dtype=bool)
    return scores[measure.columns].notna().all(axis=1).to_numpy()


def measure_sample(scores: pd.DataFrame, measure: Measure, is_known: NDArray[np.bool_]) -> Sample:
    """Return numerator and denominator of each document that has the measure."""
    if measure.numerator not in scores:
        return np.empty(0), np.empty(0)
    y = scores[measure.numerator].to_numpy(float)[is_known]
    return y, scores[measure.denominator].to_numpy(float)[is_known] if measure.denominator else np.ones(len(y))


def _estimate(sample: Sample, kind: str, resampling: Resampling) -> Interval:
    if kind == SHARE:
        return share_interval(*sample, resampling.confidence)
    rng = np.random.default_rng(resampling.seed)
    value, low, high = ratio_interval(sample, resampling.confidence, resampling.resamples, rng)
    if kind == PERPLEXITY:
        with np.errstate(over="ignore"):  # an end beyond all numbers is infinite
            value, low, high = (float(number) for number in np.exp([value, low, high]))
    return value, low, high


def compare_score_files(
    control_scores: Path,
    scores: Path,
    output: Path,
    *,
    corpus: str,
    system: str,
    critic: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Compare the scores of a system with those of the control, and write the tidy CSV.

    Parameters
    ----------
    control_scores, scores
        Scores of the control and of the system (Parquet). The same path twice gives the control's own rows, without
        p-values. If both have a column `categories` (a list of names for each document, such as its section transitions
        or the n-grams of its chain), the divergences of `statistics.categorical` between the samples are computed as
        well. Further numbers (`statistics.score_tables`) are described, and compared.
    output
        CSV to write.
    corpus, system, critic
        Names for the table.
    signature
        Signature of the critic's options.
    resampling
        Settings of intervals and p-values.
    """
    reference = read_scores(control_scores)
    candidate = reference if scores == control_scores else read_scores(scores)
    pairing = NO_PAIRS if candidate is reference else find_pairs(reference, candidate, system)
    table = compare_scores(reference, candidate, resampling)
    have_categories = all(CATEGORIES in pq.read_schema(path).names for path in (control_scores, scores))
    if candidate is not reference and have_categories:
        table = pd.concat([table, category_table(control_scores, scores, resampling)], ignore_index=True)
    if list_document_numbers(scores):
        numbers = read_document_numbers(scores)
        of_numbers = (
            describe_numbers(numbers, resampling)
            if candidate is reference
            else compare_numbers(read_document_numbers(control_scores), numbers, resampling)
        )
        table = pd.concat([table, of_numbers], ignore_index=True)
    about = {"corpus": corpus, "system": system, "critic": critic, "signature": signature}
    write_statistics(table, output, resampling=resampling, pairing=pairing, **about)


def category_table(reference: Path, candidate: Path, resampling: Resampling) -> pd.DataFrame:
    """Compute divergences between the categories of two files of scores; columns as of `compare_scores`.

    A document may have any number of categories. Documents whose categories are null were not evaluated: they do not
    count and are not permuted.
    """
    of_reference, of_candidate = read_category_counts(reference, candidate)
    options = DivergenceOptions(permutations=min(resampling.permutations, DivergenceOptions.permutations))
    permutation = build_permutation(of_reference.keys, of_candidate.keys)
    estimates = compare_categories([of_reference.counts], [of_candidate.counts], options, resampling, permutation)
    sizes = (len(of_reference.keys), len(of_candidate.keys))
    table = pd.DataFrame([sized_row(estimate, sizes) for estimate in estimates])
    return table.assign(
        seed=resampling.seed,
        reason=np.where(table["value"].isna(), "no document with a category in a sample", ""),
    )


def describe_numbers(numbers: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compute the mean of each further number in a collection, <name>_mean; columns `tidy.ROWS`."""
    tables = []
    for name in numbers.columns.difference(KEYS, sort=False):
        values = numbers[name].dropna().to_numpy(float)
        estimate = Estimate(f"{name}_mean", *mean_interval(values, resampling))
        tables.append(rows_table([estimate], (0, len(values)), lambda _: "no text has a value"))
    return pd.concat(tables, ignore_index=True).assign(seed=resampling.seed)


def compare_numbers(reference: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compare each further number of two collections: <name>_<statistic> of `statistics.columns`; columns `tidy.ROWS`.

    Documents without a value do not count in the sizes.
    """
    names = list(candidate.columns.difference(KEYS, sort=False))
    table = compare_columns(reference, candidate, names, resampling, KEYS)
    return table.assign(statistic=table["column"] + "_" + table["statistic"])[[*ROWS, "seed"]]
