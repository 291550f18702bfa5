"""Every number of the strings critic: a candidate against a reference."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.strings.cross_fitting import LogProbabilities, cross_fitted, in_sample
from macroscope.critics.strings.estimators import estimator
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import Texts
from macroscope.errors import MacroscopeError
from macroscope.statistics.bootstrap import Array, bootstrap_sums, percentile_interval
from macroscope.statistics.divergences import Frontier
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation import p_value_of, sums_within_groups
from macroscope.statistics.sampled_divergences import compare_log_ratios, published
from macroscope.statistics.tidy import UNDEFINED, Row, rows_table, shares_table, value_only

LN10 = float(np.log(10))
TEXTS_PER_FOLD = 2


@dataclass(frozen=True)
class Comparison:
    """Two sides, scored.

    Attributes
    ----------
    rows
        Columns `statistics.tidy.ROWS`.
    sides
        Texts of reference and candidate.
    scores
        Their log-probabilities.
    """

    rows: pd.DataFrame
    sides: tuple[Texts, Texts]
    scores: LogProbabilities


def describe(texts: Texts, confidence: float) -> pd.DataFrame:
    """Shares of texts without a word, and of texts that equal an earlier one."""
    empty, duplicates = int((texts.words == 0).sum()), len(texts) - len(set(texts.texts))
    return shares_table({"empty_share": empty, "duplicate_share": duplicates}, len(texts), confidence)


def compare(reference: Texts, candidate: Texts, options: StringsOptions, resampling: Resampling) -> Comparison:
    """Estimate the distributions of both sides, score all texts under both, and compare.

    Returns
    -------
    Comparison
        Rows: the divergences of `statistics.sampled_divergences`, in nats a text; `forward_kl_per_word` and
        `backward_kl_per_word`, in nats a word; `cross_entropy`, of the reference's texts under the candidate's
        distribution (eq. 13); `latent_nll` of the candidate's texts under the reference's distribution (nats a text),
        `latent_ppl` (a word), `latent_ppl_ratio` to the reference's own texts; `fallback_orders`.

    Raises
    ------
    MacroscopeError
        Where a side has too few texts to leave out a fold.
    """
    folds = 1 if options.convention == "published" else options.folds
    for name, side in (("the control", reference), ("the system", candidate)):
        if len(side) < TEXTS_PER_FOLD * folds:
            raise MacroscopeError(
                f"{name} has {len(side)} texts; the strings critic needs {TEXTS_PER_FOLD * folds} for {folds} folds:"
                " give more texts or set critics.strings.folds"
            )
    estimates = estimator(options, [*reference.texts, *candidate.texts])
    frontier = Frontier(options.scale, options.weights)
    if options.convention == "published":
        scores = in_sample(reference, candidate, estimates, resampling.seed)
        ratios = [(p - q) / LN10 for p, q in zip(scores.log_p, scores.log_q, strict=True)]
        rows = published(ratios[0], ratios[1], Frontier(options.scale * LN10, options.weights))
    else:
        scores = cross_fitted(reference, candidate, estimates, options.folds, resampling.seed)
        ratios = [p - q for p, q in zip(scores.log_p, scores.log_q, strict=True)]
        wanted = Resampling(resampling.resamples, options.permutations, resampling.confidence, resampling.seed)
        rows = compare_log_ratios(ratios[0], ratios[1], frontier, wanted, scores.folds)
        rows += _per_word(reference, candidate, scores, wanted)
    rows.append(value_only("fallback_orders", scores.fallback_orders))
    table = rows_table(rows, (len(reference), len(candidate)), lambda _: "not in the published code")
    return Comparison(table, (reference, candidate), scores)


def _per_word(reference: Texts, candidate: Texts, scores: LogProbabilities, resampling: Resampling) -> list[Row]:
    """Numbers in nats a word, and those under one distribution alone; a text's end counts as a word."""
    rng = np.random.default_rng(resampling.seed)
    units: list[Array] = [side.words.astype(float) + 1 for side in (reference, candidate)]
    (p_own, p_other), (q_other, q_own) = scores.log_p, scores.log_q
    level = resampling.confidence

    def ratio(numerator: Array, denominator: Array) -> tuple[float, float, float]:
        sums = bootstrap_sums(np.column_stack([numerator, denominator]), resampling.resamples, rng)
        low, high = percentile_interval(sums[:, 0] / sums[:, 1], level)
        return float(numerator.sum() / denominator.sum()), low, high

    once = np.ones(len(reference)), np.ones(len(candidate))
    nll = ratio(-p_other, once[1])
    ppl = tuple(float(np.exp(value)) for value in ratio(-p_other, units[1]))
    return [
        ("forward_kl_per_word", *ratio(p_own - q_other, units[0]), UNDEFINED),
        ("backward_kl_per_word", *ratio(q_own - p_other, units[1]), UNDEFINED),
        ("cross_entropy", *ratio(-q_other, once[0]), UNDEFINED),
        ("latent_nll", *nll, UNDEFINED),
        ("latent_ppl", ppl[0], ppl[1], ppl[2], UNDEFINED),
        ("latent_ppl_ratio", *_ppl_ratio(-p_own, -p_other, units, scores, resampling)),
    ]


def _ppl_ratio(
    reference: Array, candidate: Array, units: list[Array], scores: LogProbabilities, resampling: Resampling
) -> tuple[float, float, float, float]:
    """Latent PPL of the candidate over that of the reference, each scored by estimates that have not seen it."""
    rng = np.random.default_rng(resampling.seed)
    rows = [np.column_stack([nll, size]) for nll, size in zip((reference, candidate), units, strict=True)]

    def log_ratio(first: Array, second: Array) -> Array:
        return second[..., 0] / second[..., 1] - first[..., 0] / first[..., 1]

    value = float(log_ratio(rows[0].sum(axis=0), rows[1].sum(axis=0)))
    draws = log_ratio(*(bootstrap_sums(side, resampling.resamples, rng) for side in rows))
    low, high = percentile_interval(draws, resampling.confidence)
    assert scores.folds is not None  # only cross-fitted scores come here
    null = log_ratio(*sums_within_groups(rows[0], rows[1], scores.folds, resampling.permutations, rng))
    return float(np.exp(value)), float(np.exp(low)), float(np.exp(high)), p_value_of(value, null)
