"""Stage `compare` of the strings critic: statistics of a candidate and a reference, and the evidence.

The evidence has log-probabilities of texts, and the texts least like the reference.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.latents import stream_latents
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.strings.cross_fitting import LogProbabilities, score_cross_fitted, score_in_sample
from macroscope.critics.strings.estimators import make_estimator
from macroscope.critics.strings.fits import split_half, subsample_latents
from macroscope.critics.strings.kenlm_model import compare_under_model
from macroscope.critics.strings.latents import LATENTS, Texts, read_texts
from macroscope.critics.strings.options import StringsOptions
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.natural_language.words import has_stop_words, stop_words
from macroscope.options import Resampling
from macroscope.phrases import format_count, shorten
from macroscope.statistics.cross_fitted_tests import combined_p_value, fold_tests
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import Frontier
from macroscope.statistics.document_features import Array
from macroscope.statistics.jackknife import interval_of_left_out
from macroscope.statistics.p_values import agree_with_test
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.sampled_divergences import (
    NAMES,
    compare_log_ratios,
    plug_in_divergences,
    published_divergences,
)
from macroscope.statistics.shared_ngrams import estimate_shared_ngrams
from macroscope.statistics.tidy import UNDEFINED, Estimate, rows_table, shares_table
from macroscope.statistics.word_kinds import compare_by_word_kinds
from macroscope.tables import write_csv

LN10 = float(np.log(10))
TEXTS_PER_FOLD = 2
FROM_LOGARITHM = {"log_ppl": "latent_ppl", "log_ppl_ratio": "latent_ppl_ratio"}
"""Names of logarithms and of the statistics computed from them, whose intervals are symmetric on the log scale."""
_ALL_TOGETHER = (
    "all texts of the system or of real text are equal, share an opening or are too few: they are in one fold, which"
    " leaves nothing to estimate from"
)
_ESTIMATED = "expected under estimates from this many texts"
STATISTICS = (
    Statistic("*_share", "share of the system's texts"),
    Statistic("*_per_word", f"divergence per word {_ESTIMATED}", sized=True),
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
"""Scale of the divergence frontier in the paper, of in-sample log-ratios; its code uses log10 instead of nats."""
SCALE = 5.0
"""Scale of the divergence frontier, as for clusters. For all p and q, KL(p || r_w) is between 0 and -log w, so the area
under the frontier is at least G(1 + s)^2 / G(1 + 2 s): 0.004 at this scale, and 0.95 at the paper's."""


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison.

    Attributes
    ----------
    rows
        Statistics, with the columns `statistics.tidy.ROWS`.
    sides
        Texts of reference and candidate.
    scores
        Log-probabilities of these texts.
    """

    rows: pd.DataFrame
    sides: tuple[Texts, Texts]
    scores: LogProbabilities


def describe(texts: Iterable[pd.DataFrame], confidence: float) -> pd.DataFrame:
    """Compute the shares of texts without words, and of texts equal to an earlier one.

    Parameters
    ----------
    texts
        Batches of texts, with the columns text and words.
    """
    number, empty, seen = 0, 0, set[bytes]()
    for batch in texts:
        number += len(batch)
        empty += int((batch["words"] == 0).sum())
        # Digests, because the texts may not fit into memory.
        seen.update(blake2b(text.encode(), digest_size=16).digest() for text in batch["text"])
    return shares_table({"empty_share": empty, "duplicate_share": number - len(seen)}, number, confidence)


def compare(
    reference: Texts,
    candidate: Texts,
    options: StringsOptions,
    resampling: Resampling,
    checkpoints: Path,
    fits: Sequence[Path] = (),
) -> Comparison:
    """Estimate both distributions, score all texts under both, and compare.

    Parameters
    ----------
    checkpoints
        Folder with which an interrupted estimation goes on.
    fits
        Folders with finished trainings, see `fits`; or the file of a given model.

    Returns
    -------
    Comparison
        Rows: the divergences of `statistics.sampled_divergences`, in nats per text; `forward_kl_per_word` and
        `backward_kl_per_word`, in nats per word; `cross_entropy`, of the reference's texts under the candidate's
        distribution (eq. 13); `latent_nll` of the candidate's texts under the reference's distribution (nats per text),
        `latent_ppl` (per word), `latent_ppl_ratio` to the reference's own texts; `shared_ngrams_difference` of
        `statistics.shared_ngrams`; `fallback_orders`; `scored_texts`, the number of the candidate's scored texts. If
        all texts of one collection are in one group, all but the last three are nan. Under a given model of KenLM:
        `compare_under_model`, and `shared_ngrams_difference`.

    Raises
    ------
    MacroscopeError
        If reference or candidate has too few texts to leave out a fold.
    """
    folds = options.folds if options.is_cross_fitted else 1
    for name, texts in (("the control", reference), ("the system", candidate)):
        if len(texts) < TEXTS_PER_FOLD * folds:
            raise MacroscopeError(
                f"{name} has {format_count(len(texts), 'text')}; the strings critic needs {TEXTS_PER_FOLD * folds} for"
                f" {format_count(folds, 'fold')}:"
                " give more texts or set critics.strings.folds"
            )
    sides = (reference, candidate)
    if options.estimator == "kenlm":
        latent, scores = compare_under_model(reference, candidate, fits[0], resampling)
        shared = rows_table([_shared_ngrams(sides, options, resampling)], (len(reference), len(candidate)), str)
        return Comparison(pd.concat([latent, shared], ignore_index=True), sides, scores)
    estimates = make_estimator(options, reference.texts, checkpoints, fits)
    if options.is_cross_fitted:
        scores = score_cross_fitted(reference, candidate, estimates, options.folds, resampling.seed)
        rows = _cross_fitted_rows(scores, sides, options, resampling)
        rows.append(_shared_ngrams(sides, options, resampling))
    else:
        scores = score_in_sample(reference, candidate, estimates, resampling.seed)
        rows = _in_sample_rows(scores, options)
    rows.append(Estimate("fallback_orders", float(scores.fallback_orders)))
    rows.append(Estimate("scored_texts", float(np.isfinite(scores.log_p[1]).sum())))
    reason = _ALL_TOGETHER if options.is_cross_fitted else "not in the published code"
    return Comparison(rows_table(rows, (len(reference), len(candidate)), lambda _: reason), sides, scores)


def _shared_ngrams(sides: tuple[Texts, Texts], options: StringsOptions, resampling: Resampling) -> Estimate:
    reference, candidate = sides
    permutation = build_permutation(reference.keys, candidate.keys)
    return estimate_shared_ngrams(
        (reference.split, candidate.split), permutation, options.permutations, resampling.seed
    )


def _compare_word_kinds(reference: Texts, candidate: Texts, language: str, resampling: Resampling) -> pd.DataFrame:
    function_words = stop_words(language) if has_stop_words(language) else frozenset()
    words = reference.lower_case_words, candidate.lower_case_words
    keys = reference.keys, candidate.keys
    return compare_by_word_kinds(keys, words, function_words, resampling.confidence, resampling.seed)


def _in_sample_rows(scores: LogProbabilities, options: StringsOptions) -> list[Estimate]:
    frontier = Frontier(options.scale or PUBLISHED_SCALE, options.weights)
    if options.convention == "paper":
        return plug_in_divergences(*scores.ratios, frontier)
    reference, candidate = scores.ratios
    return published_divergences(reference / LN10, candidate / LN10, frontier)


def _cross_fitted_rows(
    scores: LogProbabilities, sides: tuple[Texts, Texts], options: StringsOptions, resampling: Resampling
) -> list[Estimate]:
    # The end of a text counts as a word.
    units: tuple[Array, Array] = (sides[0].words + np.ones(1), sides[1].words + np.ones(1))
    if scores.order is None:
        names = [FROM_LOGARITHM.get(name, name) for name in _totals(scores, units)]
        return [Estimate(name, UNDEFINED) for name in (*NAMES, *names)]
    tests = Resampling(resampling.resamples, options.permutations, resampling.confidence, resampling.seed)
    frontier = Frontier(options.scale or SCALE, options.weights)
    return compare_log_ratios(*scores.ratios, frontier, tests, scores.scored) + _per_word(scores, units, tests)


def _per_word(scores: LogProbabilities, units: tuple[Array, Array], resampling: Resampling) -> list[Estimate]:
    """Compute the statistics in nats per word, and those under a single distribution."""
    rng = np.random.default_rng(resampling.seed)
    values, leave_one_out = (
        _totals(scores, units),
        [_totals(fold_scores, units) for fold_scores in scores.leave_one_out],
    )
    p_values = {"log_ppl_ratio": _p_value_of_ratio(scores, units, resampling.permutations, rng)}
    rows = []
    for name, number in values.items():
        fold_values = [totals[name] for totals in leave_one_out if np.isfinite(totals[name])]
        _, low, high = map(float, interval_of_left_out(number, fold_values, resampling.confidence))
        p = p_values.get(name, UNDEFINED)
        estimate = agree_with_test(Estimate(name, number, low, high, p), resampling.confidence)
        numbers = np.array([estimate.value, estimate.ci_low, estimate.ci_high])
        value, low, high = (np.exp(numbers) if name in FROM_LOGARITHM else numbers).tolist()
        rows.append(Estimate(FROM_LOGARITHM.get(name, name), value, low, high, p))
    return rows


def _totals(scores: LogProbabilities, units: tuple[Array, Array]) -> dict[str, float]:
    """Return totals per word or text, those of `FROM_LOGARITHM` as logarithms; texts without scores are left out."""
    (p_reference, p_candidate), (q_reference, q_candidate) = (
        [np.nanmean(values) if np.isfinite(values).any() else UNDEFINED for values in logs]
        for logs in (scores.log_p, scores.log_q)
    )
    reference_words, candidate_words = (
        float(size[np.isfinite(values)].mean()) if np.isfinite(values).any() else UNDEFINED
        for size, values in zip(units, scores.log_p, strict=True)
    )
    totals = {
        "forward_kl_per_word": (p_reference - q_reference) / reference_words,
        "backward_kl_per_word": (q_candidate - p_candidate) / candidate_words,
        "cross_entropy": -q_reference,
        "latent_nll": -p_candidate,
        "log_ppl": -p_candidate / candidate_words,
        "log_ppl_ratio": p_reference / reference_words - p_candidate / candidate_words,
    }
    return {name: float(number) for name, number in totals.items()}


def _p_value_of_ratio(
    scores: LogProbabilities, units: tuple[Array, Array], permutations: int, rng: np.random.Generator
) -> float:
    """Compute the p-value of the latent PPL ratio, under estimates from earlier folds."""
    assert scores.order is not None  # only cross-fitted scores come here
    assert scores.earlier is not None
    order = scores.order
    rows = [np.column_stack(columns) for columns in zip(scores.earlier.log_p, units, strict=True)]

    def inside(fold: int) -> tuple[Array, Array]:
        reference, candidate = (values[indices] for values, indices in zip(rows, order.inside(fold), strict=True))
        return reference, candidate

    def log_ratio(reference: Array, candidate: Array, *_: int) -> dict[str, Array]:
        return {"log_ratio": reference[..., 0] / reference[..., 1] - candidate[..., 0] / candidate[..., 1]}

    tests = fold_tests(order, inside, log_ratio, permutations, rng)
    return combined_p_value(tests.get("log_ratio", []), two_sided=True)


# ---- evidence --------------------------------------------------------------------------------------------------------

SIDES = ("reference", "candidate")
TEXTS_SHOWN = 10
EXCERPT = 300


def write_evidence(output: Path, comparison: Comparison) -> None:
    """Write the evidence of a system into the folder `output`.

    texts.parquet
        id, side, words, nll (T(x) = -log_p), log_p, log_q (nats), and fold.
    unlike.csv
        Texts of the candidate with the largest log-ratio per word of its own distribution to the reference's.
    """
    table = texts_table(comparison)
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        table.to_parquet(folder / "texts.parquet", index=False)
        write_csv(least_like_reference(comparison, table), folder / "unlike.csv")


def texts_table(comparison: Comparison) -> pd.DataFrame:
    """Return the log-probabilities of all texts of reference and candidate."""
    tables = []
    for number, name in enumerate(SIDES):
        texts, scores = comparison.sides[number], comparison.scores
        table = pd.DataFrame({"id": texts.ids, "side": name, "words": texts.words})
        table["log_p"], table["log_q"] = scores.log_p[number], scores.log_q[number]
        table["nll"] = -table["log_p"]
        table["fold"] = -1 if scores.order is None else scores.order.folds[number]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def least_like_reference(comparison: Comparison, table: pd.DataFrame) -> pd.DataFrame:
    """Return the candidate's texts least like the reference: id, words, log_ratio_per_word (nats), excerpt."""
    candidate = table[table["side"] == "candidate"].reset_index(drop=True)
    candidate["log_ratio_per_word"] = (candidate["log_q"] - candidate["log_p"]) / (candidate["words"] + 1)
    top = (
        candidate.dropna(subset="log_ratio_per_word")
        .sort_values("log_ratio_per_word", ascending=False, kind="stable")
        .head(TEXTS_SHOWN)
    )
    excerpts = [shorten(comparison.sides[1].texts[i], EXCERPT) for i in top.index]
    return top[["id", "words", "log_ratio_per_word"]].assign(excerpt=excerpts)


# ---- the stage -------------------------------------------------------------------------------------------------------


def compare_latents(
    control_latents: Path,
    latents: Path,
    fits: Sequence[Path] = (),
    *,
    options: StringsOptions,
    system: str,
    language: str,
    resampling: Resampling,
    checkpoints: Path,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the texts of a system with the control's, and write the evidence; see `critics.split_half`.

    Estimation and scoring use at most `most_texts` of the control and of the system; empty and duplicate texts are
    counted over all. An interrupted call leaves what its LSTMs have learned in `checkpoints`, and the next one goes on.
    """
    trainings = checkpoints / system

    def compare_pair(reference: Texts, candidate: Texts) -> Comparison:
        compared = compare(reference, candidate, options, resampling, trainings, fits)
        word_kinds = _compare_word_kinds(reference, candidate, language, resampling)
        return replace(compared, rows=pd.concat([compared.rows, word_kinds], ignore_index=True))

    with ExitStack() as stack:

        def subsampled(path: Path) -> Path:
            return subsample_latents(stack, path, options, resampling.seed)

        control = subsampled(control_latents)
        compared = compare_with_control(
            control,
            control if latents == control_latents else subsampled(latents),
            read=read_texts,
            describe=lambda _: describe(_stream_texts(latents), resampling.confidence),
            compare=compare_pair,
            halves=lambda texts: split_half(texts)[::-1],
        )
    write_evidence(evidence, compared.result)
    shutil.rmtree(trainings, ignore_errors=True)
    return compared.table


def _stream_texts(latents: Path) -> Iterator[pd.DataFrame]:
    yield from (table.to_pandas() for table in stream_latents(latents, LATENTS, ["text", "words"]))
