"""Classifier two-sample test: detectability of single documents, on one scale for all critics.

The value is an AUC: of a pair of documents, one of each sample, how often does a classifier that was trained on other
documents pick the right one? At 0.5, chance, the critic sees no difference between single documents; 1 is certainty.
The classifier is a logistic regression on the critic's numeric features of a document, each by its rank and by its
distance from the middle rank, and on the log-likelihood ratio of the document's constituents (words, transitions,
clusters) by naive Bayes.

This is a two-sample test by classification (Lopez-Paz and Oquab 2017). Documents are divided into ordered folds. Those
of a fold are scored by a classifier that was trained on the folds before it, and pairs are formed within folds. Paired
documents and texts of one prompt (`statistics.document_groups`) are in one fold. Cross-validation, in which folds take
turns, would train classifiers on documents that others score, and the AUC would vary about twice as much as its
influence curves say (simulated: 10 % false alarms at a level of 5 %). With ordered folds, the deviations of the folds
are martingale differences, and influence curves (DeLong, DeLong and Clarke-Pearson 1988) give the right variance;
influences of such a group are added before they are squared. The interval has Wilson's form for a proportion, so that
it is right near 1. It holds the AUC of classifiers trained on this number of documents; the best possible classifier
may be better.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr

from macroscope.statistics.cross_fitted_tests import midranks
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_classifier import Flags, LabelledDocuments, assign_folds, classify, label_documents
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import Integers, group_labels
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.tidy import UNDEFINED, Estimate

C2ST_AUC: str = "c2st_auc"
MINIMUM_DETECTABLE: str = "c2st_auc_minimum_detectable"
STATISTICS = (
    Statistic(
        C2ST_AUC,
        "AUC of classifiers, trained on this number of documents, of single documents of the system and of real text",
        "classifiers detect single documents of the system no better than by chance",
        sized=True,
    ),
    Statistic(MINIMUM_DETECTABLE),
)
FOLDS, TRAINING_FOLDS = 10, 3
"""Number of folds, and number of the first ones, which are used for training only."""
REPEATS, MANY = 4, 5000
"""Number of orders of the folds to average over, and number of documents from which on one order suffices."""
FEWEST_DOCUMENTS = 4
"""Smallest number of documents per sample with which a classifier can be trained and tested."""
POWER, LEVEL = 0.8, 0.05
Scorer = Callable[[LabelledDocuments, Flags, Flags, np.random.Generator], Array]
"""Function of the documents, those of training, those to judge, and a generator that returns the log odds of these."""


class CrossFittedOdds(NamedTuple):
    """Log odds of documents, NaN in training folds, and the documents' folds: documents x repeats each."""

    log_odds: Array
    folds: Integers


def two_sample_test(
    reference: DocumentFeatures, candidate: DocumentFeatures, confidence: float, seed: int
) -> list[Estimate]:
    """Compute `c2st_auc` and `c2st_auc_minimum_detectable` of the candidate against the reference.

    Returns
    -------
    list of estimates
        `c2st_auc` is an AUC in [0, 1], with its interval and a one-sided p-value against chance; values below 0.5 are
        due to chance. `c2st_auc_minimum_detectable` is `minimum_detectable_auc`. Both are NaN with fewer than
        `FEWEST_DOCUMENTS` documents in a sample, or if fewer than two groups of documents can be scored.
    """
    auc, detectable = Estimate(C2ST_AUC, UNDEFINED), UNDEFINED
    if min(len(reference), len(candidate)) >= FEWEST_DOCUMENTS:
        documents = label_documents(reference, candidate, group_labels(reference.keys, candidate.keys))
        auc = estimate_auc(cross_fit_log_odds(documents, seed), documents, confidence)
    if not np.isnan(auc.value):
        detectable = minimum_detectable_auc(*documents.group_counts)
    return [auc, Estimate(MINIMUM_DETECTABLE, detectable)]


def estimate_auc(odds: CrossFittedOdds, documents: LabelledDocuments, confidence: float) -> Estimate:
    """Compute `c2st_auc` from log odds of documents; NaN if fewer than two groups have any."""
    group, sizes, n_reference = documents.group, documents.group_counts, int((documents.labels == 0).sum())
    n_scored = min(len(np.unique(group[np.isfinite(repeat)])) for repeat in odds.log_odds.T)
    if n_scored < 2:  # almost all documents are in one group, so nothing is left to train on
        return Estimate(C2ST_AUC, UNDEFINED)
    value, influences = mean_auc(odds, documents)
    # Bounds the variance of the mean by the mean variance, whatever their correlation.
    variance = float((influences**2).sum(axis=1).mean()) * n_scored / (n_scored - 1)
    low, high = interval_of_auc(value, variance, sizes, confidence)
    # Without variance the samples are separated completely, or not at all: assume the variance under chance.
    spread, freedom = _spread_by_chance(*sizes), n_scored - 1.0
    if variance > 0:
        spread, freedom = float(np.sqrt(variance)), _freedom(influences, group, n_reference)
    return Estimate(C2ST_AUC, value, low, high, float(stdtr(freedom, (0.5 - value) / spread)))


def mean_auc(odds: CrossFittedOdds, documents: LabelledDocuments) -> tuple[float, Array]:
    """Return the mean AUC over orders of the folds, and the influence of each group in each order."""
    n_reference = int((documents.labels == 0).sum())
    repeats = [within_fold_auc(*repeat, n_reference) for repeat in zip(odds.log_odds.T, odds.folds.T, strict=True)]
    influences = [np.bincount(documents.group, influence) for _, influence in repeats]
    return float(np.mean([value for value, _ in repeats])), np.stack(influences, dtype=float)


def minimum_detectable_auc(n_reference: int, n_candidate: int) -> float:
    """Return the smallest AUC that independent documents show with a power of 80 % at a one-sided level of 5 %."""
    return float(min(1.0, 0.5 + (ndtri(1 - LEVEL) + ndtri(POWER)) * _spread_by_chance(n_reference, n_candidate)))


def _freedom(influences: Array, group: Integers, n_reference: int) -> float:
    """Return the degrees of freedom of the variance, after Satterthwaite: few if most of it comes from a small sample.

    Parameters
    ----------
    influences
        Influence of each group, one row per order of the folds.
    group
        Group of each document of both samples, those of the reference first.
    n_reference
        Number of documents of the reference.
    """
    is_in_sample = np.stack(
        [
            np.bincount(groups_of_sample, minlength=influences.shape[1]) > 0
            for groups_of_sample in (group[:n_reference], group[n_reference:])
        ]
    )
    sums = [0.0, 0.0]
    for kind in np.unique(is_in_sample, axis=1).T:  # groups of documents of one sample, and of both
        influences_of_kind = influences[:, (is_in_sample == kind[:, None]).all(axis=0)]
        variance, n_scored = (
            (influences_of_kind**2).sum(axis=1).mean(),
            np.count_nonzero(influences_of_kind, axis=1).min(),
        )
        sums = [sums[0] + variance, sums[1] + variance**2 / max(n_scored - 1, 1)]
    return float(sums[0] ** 2 / sums[1])


def _spread_by_chance(n_reference: int, n_candidate: int) -> float:
    """Return the standard deviation of an AUC without a difference: that of Mann and Whitney's U without ties.

    It is over the scored documents; those of the training folds are not scored.
    """
    n, m = ((1 - TRAINING_FOLDS / FOLDS) * size for size in (n_reference, n_candidate))
    return float(np.sqrt((n + m + 1) / (12 * n * m)))


def cross_fit_log_odds(
    documents: LabelledDocuments,
    seed: int,
    score: Scorer = lambda *given: classify(*given).log_odds,
    strata: Integers | None = None,
) -> CrossFittedOdds:
    """Score every document by a classifier that was trained on other groups; see the module.

    Documents of a stratum are spread over the folds evenly.
    """
    rng = np.random.default_rng(seed)
    n_folds = max(2, min(FOLDS, min(documents.group_counts) // 2))
    first_scored = max(1, TRAINING_FOLDS * n_folds // FOLDS)
    odds, folds = [], []
    for _ in range(REPEATS if len(documents.labels) < MANY else 1):
        fold = assign_folds(documents.group, documents.labels, n_folds, rng, strata)
        log_odds = np.full(len(documents.labels), np.nan)
        for scored in range(first_scored, n_folds):
            log_odds[fold == scored] = score(documents, fold < scored, fold == scored, rng)
        odds.append(log_odds)
        folds.append(fold)
    return CrossFittedOdds(np.stack(odds, axis=1), np.stack(folds, axis=1))


def within_fold_auc(log_odds: Array, folds: Integers, n_reference: int) -> tuple[float, Array]:
    """Compute the share of pairs within folds in which the candidate's document has the larger log odds.

    A pair is a document of each sample.

    Parameters
    ----------
    log_odds
        Log odds of the documents of the reference, then of the candidate; NaN for those without a score.
    folds
        Fold of each document.
    n_reference
        Number of documents of the reference.

    Returns
    -------
    auc, influence
        Ties count one half. The influence of each document on the AUC.
    """
    wins, pairs = np.zeros(len(folds)), np.zeros(len(folds))
    for fold in np.unique(folds):
        inside = np.flatnonzero((folds == fold) & np.isfinite(log_odds))
        of_reference, of_candidate = inside[inside < n_reference], inside[inside >= n_reference]
        if not (len(of_reference) and len(of_candidate)):
            continue
        ranks = midranks(log_odds[np.concatenate([of_reference, of_candidate])])
        # A document of the candidate counts those of the reference below it; a document of the reference counts those
        # of the candidate above it.
        wins[of_candidate] = ranks[len(of_reference) :] - midranks(log_odds[of_candidate])
        wins[of_reference] = len(of_candidate) - (ranks[: len(of_reference)] - midranks(log_odds[of_reference]))
        pairs[of_candidate], pairs[of_reference] = len(of_reference), len(of_candidate)
    total = pairs[:n_reference].sum()
    value = wins[:n_reference].sum() / total
    return float(value), (wins - value * pairs) / total


def interval_of_auc(value: float, variance: float, sizes: tuple[int, int], confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a proportion, for the number of documents that would give this variance."""
    spread = value * (1 - value)
    documents = min(spread / variance, sum(sizes)) if variance > 0 and spread > 0 else min(sizes)
    low, high = wilson_interval(value * documents, documents, confidence)
    return float(low), float(high)
