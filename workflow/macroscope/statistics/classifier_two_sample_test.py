"""How well single documents of two samples can be told apart by what a critic sees of them: one scale for all critics.

The value is an AUC: shown a document of either sample, how often does a judge that has learned from other documents
pick the right one? 0.5 is chance: the critic sees no difference between single documents; 1 is certainty. The judge is
a logistic regression on the numbers that the critic has of a document, each by its rank and by how far out it is, and
on the log-likelihood ratio of what the document consists of (words, transitions, clusters) by naive Bayes.

A two-sample test by classification (Lopez-Paz and Oquab 2017). Documents are divided into folds, which stand in an
order; those of a fold are judged by what was learned from the folds before it, and pairs are formed within folds.
Documents that belong together (`statistics.permutation_groups`) are in one fold. Were folds to take turns, as in
cross-validation, every judge would have learned from documents that others judge, and the AUC would vary about twice as
much as its influence curves say (simulated: 10 % false alarms at a level of 5 %). In order, the deviations of the folds
are martingale differences, and influence curves (DeLong, DeLong and Clarke-Pearson 1988) give the right variance; what
belongs together is added up before it is squared. The interval has Wilson's form for a share, so that it is right near
1. It holds the AUC of judges that learn from so many documents; the best judge of all may be better.
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
from macroscope.statistics.document_sums import Array
from macroscope.statistics.logistic import fit_logistic
from macroscope.statistics.permutation_groups import Integers, group_labels
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.tidy import Row, undefined, value_only

C2ST_AUC, SMALLEST = "c2st_auc", "c2st_auc_minimum_detectable"
STATISTICS = (
    Statistic(
        C2ST_AUC,
        "AUC of telling single documents of the system from real ones, by judges that learn from so many",
        "single documents of the system and of real text are told apart no better than by chance",
        difference=False,
        sized=True,
    ),
    Statistic(SMALLEST),
)
FOLDS, LEARNED_FIRST = 10, 3
"""Folds, and how many of them are only learned from."""
REPEATS, MANY = 4, 5000
"""Orders of the folds that values are averaged over, where there are not many documents: then one is as good."""
INNER_FOLDS = 5
MOST_NUMBERS = 32
"""Of a document; of more, such as an embedding's, the directions in which documents differ most are looked at."""
FEWEST = 4
"""Texts a side below which nothing can be learned and tried."""
POWER, LEVEL = 0.8, 0.05
_PSEUDOCOUNT = 0.5


@dataclass(frozen=True)
class DocumentFeatures:
    """What a critic sees of every single document of a sample.

    Attributes
    ----------
    keys
        `keys.KEYS` of the documents, as far as they have them.
    numbers
        Documents x numbers; NaN where a document has none.
    bags
        Lists of names that a document consists of, any number of lists: each has a list a document.
    """

    keys: pd.DataFrame
    numbers: Array
    bags: tuple[Sequence[Sequence[str]], ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    def some(self, chosen: NDArray[np.int64]) -> "DocumentFeatures":
        """Some of the documents."""
        bags = tuple([bag[i] for i in chosen] for bag in self.bags)
        return DocumentFeatures(self.keys.iloc[chosen], self.numbers[chosen], bags)


@dataclass(frozen=True)
class Judged:
    """Cross-fitted judgements.

    Attributes
    ----------
    log_odds
        Documents of the first sample, then of the second x repeats: log odds that a document is of the second.
    folds
        In the same order, the fold of each.
    """

    log_odds: Array
    folds: Integers


def two_sample_test(first: DocumentFeatures, second: DocumentFeatures, confidence: float, seed: int) -> list[Row]:
    """Rows `c2st_auc` and `c2st_auc_minimum_detectable` of the second sample against the first.

    `c2st_auc` is an AUC in [0, 1], with its interval and a one-sided p-value against chance; below 0.5 only by
    chance. `c2st_auc_minimum_detectable` is `smallest_auc`.
    """
    if min(len(first), len(second)) < FEWEST:
        return [undefined(C2ST_AUC), undefined(SMALLEST)]
    groups = group_labels(first.keys, second.keys)
    group, sizes = np.concatenate(groups), (len(first), len(second))
    judged = judge(first, second, groups, seed)
    known = min(_distinct(group[np.isfinite(odds)]) for odds in judged.log_odds.T)
    if known < 2:  # nearly all belong together: nobody is left to be judged by what others say
        return [undefined(C2ST_AUC), undefined(SMALLEST)]
    found = [auc(*each, len(first)) for each in zip(judged.log_odds.T, judged.folds.T, strict=True)]
    value = float(np.mean([each for each, _ in found]))
    members = np.stack([np.bincount(group, influence) for _, influence in found], dtype=float)
    # Of a mean of alike values: no more than the mean of their variances, however they go together.
    variance = float((members**2).sum(axis=1).mean()) * known / (known - 1)
    low, high = _interval(value, variance, sizes, confidence)
    # Without any variance all is told apart, or nothing: then as if nothing but chance made it.
    spread, freedom = _spread_by_chance(*sizes), known - 1.0
    if variance > 0:
        spread, freedom = float(np.sqrt(variance)), _freedom(members, group, len(first))
    p = float(stdtr(freedom, (0.5 - value) / spread))
    return [(C2ST_AUC, value, low, high, p), value_only(SMALLEST, smallest_auc(*sizes))]


def smallest_auc(first: int, second: int) -> float:
    """Smallest AUC that so many independent documents show with a power of 80 % at a one-sided level of 5 %."""
    return float(min(1.0, 0.5 + (ndtri(1 - LEVEL) + ndtri(POWER)) * _spread_by_chance(first, second)))


def _freedom(members: Array, group: Integers, first: int) -> float:
    """Degrees of freedom of the variance, after Satterthwaite: of a small side that makes most of it there are few.

    Parameters
    ----------
    members
        Influence of each group, a row an order of the folds.
    group
        Of the documents of both samples, those of the first before the others.
    """
    sides = np.stack([np.bincount(side, minlength=members.shape[1]) > 0 for side in (group[:first], group[first:])])
    found = [0.0, 0.0]
    for kind in np.unique(sides, axis=1).T:  # groups of either side, and of both
        own = members[:, (sides == kind[:, None]).all(axis=0)]
        part, judged = (own**2).sum(axis=1).mean(), np.count_nonzero(own, axis=1).min()
        found = [found[0] + part, found[1] + part**2 / max(judged - 1, 1)]
    return float(found[0] ** 2 / found[1])


def _spread_by_chance(first: int, second: int) -> float:
    """Standard deviation of an AUC where there is no difference: of Mann and Whitney's U without ties.

    Of the documents that are judged; those of the first folds are learned from alone.
    """
    one, other = ((1 - LEARNED_FIRST / FOLDS) * side for side in (first, second))
    return float(np.sqrt((one + other + 1) / (12 * one * other)))


def judge(first: DocumentFeatures, second: DocumentFeatures, groups: tuple[Integers, Integers], seed: int) -> Judged:
    """Judge every document by what was learned from other groups; see the module."""
    labels = np.repeat([0.0, 1.0], [len(first), len(second)])
    group = np.concatenate(groups)
    numbers = _reduced(np.concatenate([first.numbers, second.numbers]).astype(float))
    bags = [_counts([*one, *other]) for one, other in zip(first.bags, second.bags, strict=True)]
    rng = np.random.default_rng(seed)
    number = max(2, min(FOLDS, min(map(_distinct, groups)) // 2))
    first_judged = max(1, LEARNED_FIRST * number // FOLDS)
    odds, folds = [], []
    for _ in range(REPEATS if len(labels) < MANY else 1):
        fold = divide(group, labels, number, rng)
        found = np.full(len(labels), np.nan)
        for judged in range(first_judged, number):
            found[fold == judged] = _learned_odds(numbers, bags, labels, group, fold < judged, fold == judged, rng)
        odds.append(found)
        folds.append(fold)
    return Judged(np.stack(odds, axis=1), np.stack(folds, axis=1))


def divide(group: Integers, labels: Array, folds: int, rng: np.random.Generator) -> Integers:
    """Fold of each document: groups are dealt out in random order, those of one side apart from those of both."""
    number = int(group.max()) + 1
    sides = [np.bincount(group, labels == side, minlength=number) > 0 for side in (0, 1)]
    dealt = np.zeros(number, dtype=np.int64)
    start = 0
    for some in (sides[0] & sides[1], sides[0] & ~sides[1], sides[1] & ~sides[0]):
        members = rng.permutation(np.flatnonzero(some))
        dealt[members] = (start + np.arange(len(members))) % folds
        start += len(members)
    return dealt[group]


def auc(log_odds: Array, folds: Integers, first: int) -> tuple[float, Array]:
    """Share of pairs within a fold, one of each sample, in which the second's document has the larger log odds.

    Parameters
    ----------
    log_odds
        Of the documents of the first sample, then of the second; NaN: not judged.
    first
        Documents of the first sample.

    Returns
    -------
    (AUC, influence of each document on it); ties count one half
    """
    wins, pairs = np.zeros(len(folds)), np.zeros(len(folds))
    for fold in np.unique(folds):
        inside = np.flatnonzero((folds == fold) & np.isfinite(log_odds))
        one, other = inside[inside < first], inside[inside >= first]
        if not (len(one) and len(other)):
            continue
        ranks = midranks(log_odds[np.concatenate([one, other])])
        # A document of the second sample wins over those of the first that it is above; one of the first counts those
        # of the second that are above it.
        wins[other] = ranks[len(one) :] - midranks(log_odds[other])
        wins[one] = len(other) - (ranks[: len(one)] - midranks(log_odds[one]))
        pairs[other], pairs[one] = len(one), len(other)
    total = pairs[:first].sum()
    value = wins[:first].sum() / total
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
    """Log odds of the documents of a fold, learned from those outside of it."""
    if not _has_both(labels[outside]):
        return np.zeros(int(inside.sum()))
    columns = [_normal_scores(numbers[outside], numbers)]
    for counts in bags:
        column = np.zeros(len(labels))
        column[inside] = _log_ratios(counts[outside], labels[outside], counts[inside])
        # What the regression learns from has to be judged by others, too: a text's own words speak for its side.
        column[outside] = _cross_fitted_ratios(counts[outside], labels[outside], group[outside], rng)
        spread = column[outside].std()
        columns.append(((column - column[outside].mean()) / (spread if spread > 0 else 1.0))[:, None])
    features = np.concatenate(columns, axis=1)
    features = features[:, features[outside].std(axis=0) > 0]
    intercept, weights = fit_logistic(features[outside], labels[outside])
    return intercept + features[inside] @ weights


def _reduced(numbers: Array) -> Array:
    """At most `MOST_NUMBERS` of them: beyond, the first principal components of both samples together."""
    if numbers.shape[1] <= MOST_NUMBERS:
        return numbers
    known = np.nan_to_num(numbers - np.nanmean(numbers, axis=0))
    _, axes = np.linalg.eigh(known.T @ known)
    found: Array = known @ axes[:, : -MOST_NUMBERS - 1 : -1]
    return found


def _cross_fitted_ratios(counts: sparse.csr_matrix, labels: Array, group: Integers, rng: np.random.Generator) -> Array:
    found = np.zeros(len(labels))
    fold = divide(np.unique(group, return_inverse=True)[1], labels, INNER_FOLDS, rng)
    for held in range(INNER_FOLDS):
        inside = fold == held
        if inside.any() and _has_both(labels[~inside]):
            found[inside] = _log_ratios(counts[~inside], labels[~inside], counts[inside])
    return found


def _log_ratios(known: sparse.csr_matrix, labels: Array, counts: sparse.csr_matrix) -> Array:
    """Mean log-likelihood ratio of a document's names by naive Bayes; 0 where it has none."""
    logs = []
    for side in (0, 1):
        sums = np.asarray(known[labels == side].sum(axis=0)).ravel() + _PSEUDOCOUNT
        logs.append(np.log(sums / sums.sum()))
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    return (counts @ (logs[1] - logs[0])) / np.maximum(sizes, 1)


def _normal_scores(known: Array, values: Array) -> Array:
    """Each number by its place among those known, as a normal quantile, and by how far out that is.

    A number that a document does not have says so by a column of its own, where there are such documents.
    """
    columns = []
    for column, reference in zip(values.T, known.T, strict=True):
        ordered = np.sort(reference[np.isfinite(reference)])
        there = np.isfinite(column)
        score = np.zeros(len(column))
        if len(ordered):
            below = np.searchsorted(ordered, column[there], "left") + np.searchsorted(ordered, column[there], "right")
            score[there] = ndtri((below / 2 + 0.5) / (len(ordered) + 1))
        columns += [score, np.where(there, (score**2 - 1) / np.sqrt(2), 0.0)]
        if not there.all():
            columns.append(there - there.mean())
    return np.stack(columns, axis=1) if columns else np.zeros((len(values), 0))


def _counts(bags: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """How often each name occurs in each document."""
    sizes = [len(bag) for bag in bags]
    codes, names = pd.factorize(np.array([name for bag in bags for name in bag], dtype=object))
    rows = np.repeat(np.arange(len(bags)), sizes)
    return sparse.csr_matrix((np.ones(len(codes)), (rows, codes)), shape=(len(bags), max(1, len(names))))


def _interval(value: float, variance: float, sizes: tuple[int, int], confidence: float) -> tuple[float, float]:
    """Wilson's interval for a share of so many documents as have this variance."""
    spread = value * (1 - value)
    documents = min(spread / variance, sum(sizes)) if variance > 0 and spread > 0 else min(sizes)
    low, high = wilson_interval(value * documents, documents, confidence)
    return float(low), float(high)


def _distinct(codes: Integers) -> int:
    return len(np.unique(codes))


def _has_both(labels: Array) -> bool:
    return bool(0 < labels.sum() < len(labels))
