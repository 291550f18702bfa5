"""Every number of the strings critic: a candidate against a reference."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pandas as pd

from macroscope.critics.strings.cross_fitting import LogProbabilities, cross_fitted, in_sample
from macroscope.critics.strings.estimators import estimator
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import Texts
from macroscope.errors import MacroscopeError
from macroscope.statistics.cross_fitted_tests import combined_p_value, fold_tests, jackknife_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import Frontier
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.sampled_divergences import NAMES, compare_log_ratios, published
from macroscope.statistics.tidy import UNDEFINED, Row, rows_table, shares_table, undefined, value_only

LN10 = float(np.log(10))
TEXTS_PER_FOLD = 2
OF_LOGARITHM = {"log_ppl": "latent_ppl", "log_ppl_ratio": "latent_ppl_ratio"}
"""Whose intervals are symmetric on the scale of the logarithm."""
_ALL_TOGETHER = (
    "texts of a side are the same, begin alike or are too few: one fold has all, and without it nothing is estimated"
)
_ESTIMATED = "expected under estimates from so many texts"
STATISTICS = (
    Statistic("*_share", "share of the system's texts"),
    Statistic("*_per_word", f"divergence a word {_ESTIMATED}", sized=True),
    Statistic("cross_entropy", f"mean of real texts, {_ESTIMATED} of the system", sized=True),
    Statistic("latent_nll", f"mean of the system's texts, {_ESTIMATED} of real text", sized=True),
    Statistic("latent_ppl", f"latent PPL of the system's texts, {_ESTIMATED} of real text", sized=True),
    Statistic(
        "latent_ppl_ratio",
        f"latent PPL of the system's texts over that of real texts, {_ESTIMATED} of real text",
        "texts of the system and of real text come from one distribution",
        sized=True,
    ),
    Statistic("fallback_orders"),
    Statistic("scored_texts"),
)
PUBLISHED_SCALE = 0.2
"""Scale of the divergence frontier in the paper, whose code has log10 where its formulas have nats."""
SCALE = 5.0
"""As for clusters: whatever p and q are, KL(p || r_w) is between 0 and -log w. So the area under the frontier cannot
fall below G(1 + s)^2 / G(1 + 2 s), which is 0.004 at this scale, and 0.95 at the paper's."""


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


def describe(texts: Iterable[pd.DataFrame], confidence: float) -> pd.DataFrame:
    """Shares of texts without a word, and of texts that equal an earlier one.

    Parameters
    ----------
    texts
        Columns text and words, some texts at a time.
    """
    number, empty, seen = 0, 0, set[bytes]()
    for some in texts:
        number += len(some)
        empty += int((some["words"] == 0).sum())
        # Digests: the texts themselves may be too many for memory.
        seen.update(blake2b(text.encode(), digest_size=16).digest() for text in some["text"])
    return shares_table({"empty_share": empty, "duplicate_share": number - len(seen)}, number, confidence)


def compare(reference: Texts, candidate: Texts, options: StringsOptions, resampling: Resampling) -> Comparison:
    """Estimate the distributions of both sides, score all texts under both, and compare.

    Returns
    -------
    Comparison
        Rows: the divergences of `statistics.sampled_divergences`, in nats a text; `forward_kl_per_word` and
        `backward_kl_per_word`, in nats a word; `cross_entropy`, of the reference's texts under the candidate's
        distribution (eq. 13); `latent_nll` of the candidate's texts under the reference's distribution (nats a text),
        `latent_ppl` (a word), `latent_ppl_ratio` to the reference's own texts; `fallback_orders`; `scored_texts`, how
        many of the candidate's were scored. Where a side's texts all belong together, all but the last two are nan.

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
    if options.convention == "published":
        scores = in_sample(reference, candidate, estimates, resampling.seed)
        ratios = [ratio / LN10 for ratio in scores.ratios]
        rows = published(ratios[0], ratios[1], Frontier(options.scale or PUBLISHED_SCALE, options.weights))
    else:
        scores = cross_fitted(reference, candidate, estimates, options.folds, resampling.seed)
        rows = _cross_fitted_rows(scores, (reference, candidate), options, resampling)
    rows.append(value_only("fallback_orders", scores.fallback_orders))
    rows.append(value_only("scored_texts", int(np.isfinite(scores.log_p[1]).sum())))
    why = "not in the published code" if options.convention == "published" else _ALL_TOGETHER
    return Comparison(rows_table(rows, (len(reference), len(candidate)), lambda _: why), (reference, candidate), scores)


def _cross_fitted_rows(
    scores: LogProbabilities, sides: tuple[Texts, Texts], options: StringsOptions, resampling: Resampling
) -> list[Row]:
    # A text's end is scored as a word is.
    units: tuple[Array, Array] = (sides[0].words + np.ones(1), sides[1].words + np.ones(1))
    if scores.order is None:
        names = [OF_LOGARITHM.get(name, name) for name in _totals(scores, units)]
        return [undefined(name) for name in (*NAMES, *names)]
    wanted = Resampling(resampling.resamples, options.permutations, resampling.confidence, resampling.seed)
    frontier = Frontier(options.scale or SCALE, options.weights)
    return compare_log_ratios(*scores.ratios, frontier, wanted, scores.scored) + _per_word(scores, units, wanted)


def _per_word(scores: LogProbabilities, units: tuple[Array, Array], resampling: Resampling) -> list[Row]:
    """Numbers in nats a word, and those under one distribution alone."""
    rng = np.random.default_rng(resampling.seed)
    values, without = _totals(scores, units), [_totals(each, units) for each in scores.without]
    p_values = {"log_ppl_ratio": _p_value_of_ratio(scores, units, resampling.permutations, rng)}
    rows: list[Row] = []
    for name, number in values.items():
        known = [some[name] for some in without if np.isfinite(some[name])]
        interval = jackknife_interval(number, known, resampling.confidence)
        estimate = np.array([number, *interval])
        value_and_ends = (np.exp(estimate) if name in OF_LOGARITHM else estimate).tolist()
        rows.append((OF_LOGARITHM.get(name, name), *value_and_ends, p_values.get(name, UNDEFINED)))
    return rows


def _totals(scores: LogProbabilities, units: tuple[Array, Array]) -> dict[str, float]:
    """Numbers a word or a text, those of `OF_LOGARITHM` as logarithms; texts without scores are left out."""
    (p_own, p_other), (q_other, q_own) = (
        [np.nanmean(side) if np.isfinite(side).any() else UNDEFINED for side in logs]
        for logs in (scores.log_p, scores.log_q)
    )
    words, other_words = (
        float(size[np.isfinite(side)].mean()) if np.isfinite(side).any() else UNDEFINED
        for size, side in zip(units, scores.log_p, strict=True)
    )
    found = {
        "forward_kl_per_word": (p_own - q_other) / words,
        "backward_kl_per_word": (q_own - p_other) / other_words,
        "cross_entropy": -q_other,
        "latent_nll": -p_other,
        "log_ppl": -p_other / other_words,
        "log_ppl_ratio": p_own / words - p_other / other_words,
    }
    return {name: float(number) for name, number in found.items()}


def _p_value_of_ratio(
    scores: LogProbabilities, units: tuple[Array, Array], permutations: int, rng: np.random.Generator
) -> float:
    """P-value of the latent PPL ratio, under estimates from earlier folds."""
    assert scores.order is not None  # only cross-fitted scores come here
    assert scores.earlier is not None
    order = scores.order
    rows = [np.column_stack(columns) for columns in zip(scores.earlier.log_p, units, strict=True)]

    def inside(fold: int) -> tuple[Array, Array]:
        first, second = (side[some] for side, some in zip(rows, order.inside(fold), strict=True))
        return first, second

    def log_ratio(first: Array, second: Array, *_: int) -> dict[str, Array]:
        return {"log_ratio": first[..., 0] / first[..., 1] - second[..., 0] / second[..., 1]}

    tests = fold_tests(order, inside, log_ratio, permutations, rng)
    return combined_p_value(tests.get("log_ratio", []), two_sided=True)
