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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri, stdtr

from macroscope.statistics.cross_fitted_tests import midranks
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import Integers, group_labels
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.tidy import UNDEFINED, Estimate

PENALTY = 1.0
_STEPS = 50
_CONVERGED = 1e-8
_EXPONENT = 30.0
"""Absolute log odds beyond which a probability counts as certain."""


def fit_logistic(features: Array, labels: Array, penalty: float = PENALTY) -> tuple[float, Array]:
    """Fit a logistic regression by the penalised likelihood, log p(labels | features) - penalty / 2 |w|^2.

    Documents are weighted so that both classes have the same total weight.

    Parameters
    ----------
    features
        Documents x features, of about unit variance.
    labels
        0 or 1 for each document; both occur.
    penalty
        Penalty on the weights; the intercept has none.

    Returns
    -------
    (intercept, weights)
    """
    n = len(labels)
    ones = labels.sum()
    mass = np.where(labels == 1, n / (2 * ones), n / (2 * (n - ones)))
    design = np.column_stack([np.ones(n), features])
    ridge = np.append(0.0, np.full(features.shape[1], penalty))
    parameters = np.zeros(design.shape[1])
    loss = _loss(design, labels, mass, ridge, parameters)
    for _ in range(_STEPS):
        probability = _logistic(design @ parameters)
        gradient = design.T @ (mass * (probability - labels)) + ridge * parameters
        curvature = (design * (mass * probability * (1 - probability))[:, None]).T @ design + np.diag(ridge)
        curvature[0, 0] += np.finfo(float).eps  # without features, near-certain classes have no curvature
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (stepped := _loss(design, labels, mass, ridge, parameters - size * step)) > loss and size > _CONVERGED:
            size /= 2
        gained, parameters, loss = loss - stepped, parameters - size * step, stepped
        if gained < _CONVERGED * n:
            break
    return float(parameters[0]), parameters[1:]


def _loss(design: Array, labels: Array, mass: Array, ridge: Array, weights: Array) -> float:
    odds = design @ weights
    return float(mass @ (np.logaddexp(0.0, odds) - labels * odds) + 0.5 * ridge @ weights**2)


def _logistic(odds: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(odds, -_EXPONENT, _EXPONENT)))


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
INNER_FOLDS = 5
MAX_FEATURES = 32
"""Largest number of numeric features; more, such as an embedding, are reduced to principal components."""
FEWEST_DOCUMENTS = 4
"""Smallest number of documents per sample with which a classifier can be trained and tested."""
POWER, LEVEL = 0.8, 0.05
_PSEUDOCOUNT = 0.5


@dataclass(frozen=True)
class CrossFittedOdds:
    """Log odds of documents by classifiers that were trained on other folds.

    Attributes
    ----------
    log_odds
        Log odds that a document is of the candidate: documents of the reference, then of the candidate x repeats;
        NaN in training folds.
    folds
        Fold of each document, in the same order.
    """

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
    if min(len(reference), len(candidate)) < FEWEST_DOCUMENTS:
        return [Estimate(C2ST_AUC, UNDEFINED), Estimate(MINIMUM_DETECTABLE, UNDEFINED)]
    groups = group_labels(reference.keys, candidate.keys)
    group, sizes = np.concatenate(groups), (_distinct(groups[0]), _distinct(groups[1]))
    odds = cross_fit_log_odds(reference, candidate, groups, seed)
    n_scored = min(_distinct(group[np.isfinite(repeat)]) for repeat in odds.log_odds.T)
    if n_scored < 2:  # almost all documents are in one group, so nothing is left to train on
        return [Estimate(C2ST_AUC, UNDEFINED), Estimate(MINIMUM_DETECTABLE, UNDEFINED)]
    repeats = [within_fold_auc(*repeat, len(reference)) for repeat in zip(odds.log_odds.T, odds.folds.T, strict=True)]
    value = float(np.mean([repeat for repeat, _ in repeats]))
    influences = np.stack([np.bincount(group, influence) for _, influence in repeats], dtype=float)
    # Bounds the variance of the mean by the mean variance, whatever their correlation.
    variance = float((influences**2).sum(axis=1).mean()) * n_scored / (n_scored - 1)
    low, high = _interval(value, variance, sizes, confidence)
    # Without variance the samples are separated completely, or not at all: assume the variance under chance.
    spread, freedom = _spread_by_chance(*sizes), n_scored - 1.0
    if variance > 0:
        spread, freedom = float(np.sqrt(variance)), _freedom(influences, group, len(reference))
    p = float(stdtr(freedom, (0.5 - value) / spread))
    detectable = Estimate(MINIMUM_DETECTABLE, minimum_detectable_auc(*sizes))
    return [Estimate(C2ST_AUC, value, low, high, p), detectable]


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
    reference: DocumentFeatures, candidate: DocumentFeatures, groups: tuple[Integers, Integers], seed: int
) -> CrossFittedOdds:
    """Score every document by a classifier that was trained on other groups; see the module."""
    labels = np.repeat([0.0, 1.0], [len(reference), len(candidate)])
    group = np.concatenate(groups)
    numbers = reduce_features(np.concatenate([reference.numbers, candidate.numbers]).astype(float))
    bags = [
        count_names([*of_reference, *of_candidate])
        for of_reference, of_candidate in zip(reference.bags, candidate.bags, strict=True)
    ]
    rng = np.random.default_rng(seed)
    n_folds = max(2, min(FOLDS, min(map(_distinct, groups)) // 2))
    first_scored = max(1, TRAINING_FOLDS * n_folds // FOLDS)
    odds, folds = [], []
    for _ in range(REPEATS if len(labels) < MANY else 1):
        fold = assign_folds(group, labels, n_folds, rng)
        log_odds = np.full(len(labels), np.nan)
        for scored in range(first_scored, n_folds):
            log_odds[fold == scored] = _learned_odds(numbers, bags, labels, group, fold < scored, fold == scored, rng)
        odds.append(log_odds)
        folds.append(fold)
    return CrossFittedOdds(np.stack(odds, axis=1), np.stack(folds, axis=1))


def assign_folds(group: Integers, labels: Array, folds: int, rng: np.random.Generator) -> Integers:
    """Assign groups to folds in random order, and return the fold of each document.

    Groups of one sample and groups of both are dealt out separately.
    """
    n_groups = int(group.max()) + 1
    is_in_sample = [np.bincount(group, labels == sample, minlength=n_groups) > 0 for sample in (0, 1)]
    dealt = np.zeros(n_groups, dtype=np.int64)
    start = 0
    for is_chosen in (
        is_in_sample[0] & is_in_sample[1],
        is_in_sample[0] & ~is_in_sample[1],
        is_in_sample[1] & ~is_in_sample[0],
    ):
        members = rng.permutation(np.flatnonzero(is_chosen))
        dealt[members] = (start + np.arange(len(members))) % folds
        start += len(members)
    return dealt[group]


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


def _learned_odds(
    numbers: Array,
    bags: Sequence[sparse.csr_matrix],
    labels: Array,
    group: Integers,
    outside: NDArray[np.bool_],
    inside: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Array:
    """Compute the log odds of the documents of a fold, by a classifier trained on documents outside of it."""
    if not _has_both(labels[outside]):
        return np.zeros(int(inside.sum()))
    columns = [normal_scores(numbers[outside], numbers)]
    for counts in bags:
        column = np.zeros(len(labels))
        column[inside] = _log_ratios(counts[outside], labels[outside], counts[inside])
        # Ratios of training documents are cross-fitted, too: a text's own words would speak for its own sample.
        column[outside] = _cross_fitted_ratios(counts[outside], labels[outside], group[outside], rng)
        spread = column[outside].std()
        columns.append(((column - column[outside].mean()) / (spread if spread > 0 else 1.0))[:, None])
    features = np.concatenate(columns, axis=1)
    features = features[:, features[outside].std(axis=0) > 0]
    intercept, weights = fit_logistic(features[outside], labels[outside])
    return intercept + features[inside] @ weights


def reduce_features(numbers: Array) -> Array:
    """Reduce the features to at most `MAX_FEATURES`, the first principal components of both samples together."""
    if numbers.shape[1] <= MAX_FEATURES:
        return numbers
    centred = np.nan_to_num(numbers - np.nanmean(numbers, axis=0))
    _, axes = np.linalg.eigh(centred.T @ centred)
    components: Array = centred @ axes[:, : -MAX_FEATURES - 1 : -1]
    return components


def _cross_fitted_ratios(counts: sparse.csr_matrix, labels: Array, group: Integers, rng: np.random.Generator) -> Array:
    ratios = np.zeros(len(labels))
    fold = assign_folds(np.unique(group, return_inverse=True)[1], labels, INNER_FOLDS, rng)
    for held_out in range(INNER_FOLDS):
        inside = fold == held_out
        if inside.any() and _has_both(labels[~inside]):
            ratios[inside] = _log_ratios(counts[~inside], labels[~inside], counts[inside])
    return ratios


def _log_ratios(training: sparse.csr_matrix, labels: Array, counts: sparse.csr_matrix) -> Array:
    """Compute the mean log-likelihood ratio of a document's names by naive Bayes; 0 for documents without names."""
    logs = []
    for sample in (0, 1):
        sums = np.asarray(training[labels == sample].sum(axis=0)).ravel() + _PSEUDOCOUNT
        logs.append(np.log(sums / sums.sum()))
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    return (counts @ (logs[1] - logs[0])) / np.maximum(sizes, 1)


def normal_scores(training: Array, values: Array) -> Array:
    """Return each feature by its normal quantile among the known values, and by the distance of that from the middle.

    Missing features have an indicator column, if there are any.
    """
    columns = []
    for column, reference in zip(values.T, training.T, strict=True):
        ordered = np.sort(reference[np.isfinite(reference)])
        is_present = np.isfinite(column)
        score = np.zeros(len(column))
        if len(ordered):
            twice_rank = np.searchsorted(ordered, column[is_present], "left") + np.searchsorted(
                ordered, column[is_present], "right"
            )
            score[is_present] = ndtri((twice_rank / 2 + 0.5) / (len(ordered) + 1))
        columns += [score, np.where(is_present, (score**2 - 1) / np.sqrt(2), 0.0)]
        if not is_present.all():
            columns.append(is_present - is_present.mean())
    return np.stack(columns, axis=1) if columns else np.zeros((len(values), 0))


def count_names(bags: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """Count the names of each document: documents x names."""
    sizes = [len(bag) for bag in bags]
    codes, names = pd.factorize(np.array([name for bag in bags for name in bag], dtype=object))
    rows = np.repeat(np.arange(len(bags)), sizes)
    return sparse.csr_matrix((np.ones(len(codes)), (rows, codes)), shape=(len(bags), max(1, len(names))))


def _interval(value: float, variance: float, sizes: tuple[int, int], confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a proportion, for the number of documents that would give this variance."""
    spread = value * (1 - value)
    documents = min(spread / variance, sum(sizes)) if variance > 0 and spread > 0 else min(sizes)
    low, high = wilson_interval(value * documents, documents, confidence)
    return float(low), float(high)


def _distinct(codes: Integers) -> int:
    return len(np.unique(codes))


def _has_both(labels: Array) -> bool:
    return bool(0 < labels.sum() < len(labels))
