"""Classifier of single documents: a logistic regression on numbers and on the words that a document consists of.

A number counts by its normal quantile and by its distance from the middle; the words of a bag count by their mean
log-likelihood ratio by naive Bayes. Log odds are therefore sums over features, and so is the difference between the
mean log odds of two samples of documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import Integers

Flags = NDArray[np.bool_]
PENALTY = 1.0
_STEPS = 50
_CONVERGED = 1e-8
_EXPONENT = 30.0
"""Absolute log odds beyond which a probability counts as certain."""
INNER_FOLDS = 5
MAX_FEATURES = 32
"""Largest number of numeric features; more, such as an embedding, are reduced to principal components."""
_PSEUDOCOUNT = 0.5


@dataclass(frozen=True)
class LabelledDocuments:
    """Features of the documents of both samples: documents x numbers, and counts (documents x words) of each bag.

    Attributes
    ----------
    words
        Words of each bag, in the order of the columns.
    labels, group
        0 for documents of the reference, which are first, 1 for those of the candidate; group of each document.
    """

    numbers: Array
    bags: Sequence[sparse.csr_matrix]
    words: Sequence[Sequence[str]]
    labels: Array
    group: Integers

    @cached_property
    def group_counts(self) -> tuple[int, int]:
        """Return the numbers of groups with documents of the reference, and of the candidate."""
        first, second = (len(np.unique(self.group[self.labels == label])) for label in (0, 1))
        return first, second

    def subset(self, chosen: Flags) -> "LabelledDocuments":
        """Return the chosen documents; groups are numbered again."""
        group = np.unique(self.group[chosen], return_inverse=True)[1]
        bags = [counts[chosen] for counts in self.bags]
        return replace(self, numbers=self.numbers[chosen], bags=bags, labels=self.labels[chosen], group=group)

    def without(self, numbers: Flags, words: Sequence[Flags]) -> "LabelledDocuments":
        """Return the documents without these numbers, and without these words of each bag."""
        bags = [counts[:, ~is_left_out] for counts, is_left_out in zip(self.bags, words, strict=True)]
        return replace(self, numbers=self.numbers[:, ~numbers], bags=bags)


@dataclass(frozen=True)
class Classification:
    """Log odds of judged documents, and what adds up to them and to those of the documents of training.

    Attributes
    ----------
    numbers
        Terms of the numbers (documents x numbers).
    words
        Of each bag: documents, and the term of each word that these have, times its share of their words.
    """

    log_odds: Array
    numbers: Array
    words: Sequence[Sequence[tuple[Flags, Array]]]

    def contributions(self, documents: LabelledDocuments, chosen: Flags) -> list[Array]:
        """Return what each number, and each word of each bag, adds to the difference of the samples' mean log odds.

        Parameters
        ----------
        documents
            The classified documents.
        chosen
            Documents to compare: judged ones, or those of training, whose words have terms from other folds.
        """
        sums = [np.zeros(self.numbers.shape[1]), *(np.zeros(counts.shape[1]) for counts in documents.bags)]
        ones = documents.labels[chosen].sum()
        if 0 < ones < chosen.sum():
            sign = chosen * np.where(documents.labels == 1, 1 / ones, -1 / (chosen.sum() - ones))
            sums[0] = sign @ self.numbers
            for sum_of_bag, counts, terms in zip(sums[1:], documents.bags, self.words, strict=True):
                of_each = sign / np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
                for where, term in terms:
                    sum_of_bag += (counts.T @ (of_each * where)) * term
        return sums


def label_documents(
    reference: DocumentFeatures, candidate: DocumentFeatures, groups: tuple[Integers, Integers]
) -> LabelledDocuments:
    """Return the features of the documents of both samples, which are in these groups."""
    counted = [
        count_names([*of_reference, *of_candidate])
        for of_reference, of_candidate in zip(reference.bags, candidate.bags, strict=True)
    ]
    return LabelledDocuments(
        reduce_features(np.concatenate([reference.numbers, candidate.numbers]).astype(float)),
        [counts for counts, _ in counted],
        [words for _, words in counted],
        np.repeat([0.0, 1.0], [len(reference), len(candidate)]),
        np.concatenate(groups),
    )


def classify(documents: LabelledDocuments, outside: Flags, inside: Flags, rng: np.random.Generator) -> Classification:
    """Compute the log odds of documents `inside` by a classifier that was trained on those `outside`."""
    labels, numbers = documents.labels, documents.numbers
    if not _has_both(labels[outside]):
        return Classification(np.zeros(int(inside.sum())), np.zeros(numbers.shape), [[] for _ in documents.bags])
    columns = [normal_scores(numbers[outside][:, [n]], numbers[:, [n]]) for n in range(numbers.shape[1])]
    owner = np.repeat(np.arange(numbers.shape[1]), [column.shape[1] for column in columns])
    ratios = [_list_ratios(counts, labels, documents.group, outside, inside, rng) for counts in documents.bags]
    for bag, counts in enumerate(documents.bags):
        column = np.zeros(len(labels))
        for where, ratio in ratios[bag]:
            column[where] = (counts[where] @ ratio) / np.maximum(np.asarray(counts[where].sum(axis=1)).ravel(), 1)
        scale = column[outside].std() or 1.0
        columns.append(((column - column[outside].mean()) / scale)[:, None])
        ratios[bag] = [(where, ratio / scale) for where, ratio in ratios[bag]]
    features = np.concatenate(columns, axis=1)
    varies = features[outside].std(axis=0) > 0
    intercept, varying_weights = fit_logistic(features[outside][:, varies], labels[outside])
    weights = np.zeros(len(varies))
    weights[varies] = varying_weights
    terms = np.zeros(numbers.shape)
    np.add.at(terms.T, owner, (features * weights)[:, : len(owner)].T)
    of_words = [
        [(where, ratio * weight) for where, ratio in of_bag]
        for of_bag, weight in zip(ratios, weights[len(owner) :], strict=True)
    ]
    # Row by row: a product of matrices rounds equal documents differently, and breaks their ties.
    return Classification(intercept + (features[inside] * weights).sum(axis=1), terms, of_words)


def _list_ratios(
    counts: sparse.csr_matrix, labels: Array, group: Integers, outside: Flags, inside: Flags, rng: np.random.Generator
) -> list[tuple[Flags, Array]]:
    """List log-likelihood ratios of the words of judged documents, and of those of training.

    The latter are cross-fitted, too: a text's own words would speak for its own sample.
    """
    ratios = [(inside, _log_ratios(counts[outside], labels[outside]))]
    places, training = np.flatnonzero(outside), counts[outside]
    fold = assign_folds(np.unique(group[outside], return_inverse=True)[1], labels[outside], INNER_FOLDS, rng)
    for held_out in range(INNER_FOLDS):
        others = fold != held_out
        if not others.all() and _has_both(labels[places[others]]):
            ratios.append(
                (
                    np.isin(np.arange(len(labels)), places[~others]),
                    _log_ratios(training[others], labels[places[others]]),
                )
            )
    return ratios


def _log_ratios(counts: sparse.csr_matrix, labels: Array) -> Array:
    """Compute the log-likelihood ratio of each word by naive Bayes."""
    logs = []
    for sample in (0, 1):
        sums = np.asarray(counts[labels == sample].sum(axis=0)).ravel() + _PSEUDOCOUNT
        logs.append(np.log(sums / sums.sum()))
    ratios: Array = logs[1] - logs[0]
    return ratios


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


def count_names(bags: Sequence[Sequence[str]]) -> tuple[sparse.csr_matrix, Sequence[str]]:
    """Count the names of each document: documents x names, and the names; the name "" if there are none."""
    sizes = [len(bag) for bag in bags]
    codes, names = pd.factorize(np.array([name for bag in bags for name in bag], dtype=object))
    rows = np.repeat(np.arange(len(bags)), sizes)
    counts = sparse.csr_matrix((np.ones(len(codes)), (rows, codes)), shape=(len(bags), max(1, len(names))))
    return counts, names if len(names) else [""]


def reduce_features(numbers: Array) -> Array:
    """Reduce the features to at most `MAX_FEATURES`, the first principal components of both samples together."""
    if numbers.shape[1] <= MAX_FEATURES:
        return numbers
    centred = np.nan_to_num(numbers - np.nanmean(numbers, axis=0))
    _, axes = np.linalg.eigh(centred.T @ centred)
    components: Array = centred @ axes[:, : -MAX_FEATURES - 1 : -1]
    return components


def assign_folds(
    group: Integers, labels: Array, folds: int, rng: np.random.Generator, strata: Integers | None = None
) -> Integers:
    """Assign groups to folds in random order, and return the fold of each document.

    Groups of one sample and groups of both are dealt out separately, and so are those of each stratum.
    """
    n_groups = int(group.max()) + 1
    is_in_sample = [np.bincount(group, labels == sample, minlength=n_groups) > 0 for sample in (0, 1)]
    dealt = np.zeros(n_groups, dtype=np.int64)
    stratum = np.zeros(n_groups, dtype=np.int64)
    if strata is not None:
        stratum[group] = strata
    start = 0
    kinds = (
        is_in_sample[0] & is_in_sample[1],
        is_in_sample[0] & ~is_in_sample[1],
        is_in_sample[1] & ~is_in_sample[0],
    )
    for number, is_chosen in product(np.unique(stratum), kinds):
        members = rng.permutation(np.flatnonzero(is_chosen & (stratum == number)))
        dealt[members] = (start + np.arange(len(members))) % folds
        start += len(members)
    return dealt[group]


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


def _has_both(labels: Array) -> bool:
    return bool(0 < labels.sum() < len(labels))
