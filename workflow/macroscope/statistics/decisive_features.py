"""Decisive features: what a classifier tells the documents of two samples by, and its detectability without that.

The classifier is that of `classifier_two_sample_test`. Its log odds are sums over features, and so is the difference
between the two samples' mean log odds. The share of a feature in this difference, among documents that the classifier
did not learn from, is the share of the detectability that it decides. Words in pairs decide for their pairs, half each.

The decisive features are the `MOST` with the largest share, without those that decide less than `LEAST` of the first.
`c2st_auc_without` is the AUC of the same classifiers in the same folds, each trained without the features that were
decisive among its own documents of training, where words of an inner fold are weighed by the other folds. The judged
documents have no part in this choice: chosen among them, the features would include those whose shares are large by
chance, and what remains would be too low. The AUC has the interval of a `c2st_auc`, for the same reasons. If few
features decide, all classifiers leave out the same ones, which are named. If many do, the sets differ a little, and the
named features are those with the largest share on average.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from macroscope.statistics.classifier_two_sample_test import cross_fit_log_odds, estimate_auc
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_classifier import Flags, LabelledDocuments, classify, label_documents
from macroscope.statistics.document_features import JOINT, Array, DocumentFeatures
from macroscope.statistics.document_groups import group_labels
from macroscope.statistics.tidy import UNDEFINED, Estimate

MOST, LEAST = 3, 0.1
"""Largest number of features that are left out and named, and their smallest share as a multiple of the largest."""
WITHOUT: str = "c2st_auc_without"
SHARE: str = "c2st_auc_share_"
"""Beginning of the names of shares, which end in their ranks from 1."""
STATISTICS = (
    Statistic(
        WITHOUT,
        "AUC as `c2st_auc`, of classifiers without the features that decide most of their detectability",
        sized=True,
    ),
    Statistic(f"{SHARE}*", sized=True),
)


def find_decisive_features(
    reference: DocumentFeatures, candidate: DocumentFeatures, confidence: float, seed: int
) -> list[tuple[str, Estimate]]:
    """Return the features that decide the detectability, the largest share first, and what remains without them.

    Parameters
    ----------
    reference, candidate
        Features of documents whose `c2st_auc` with this seed is above chance.

    Returns
    -------
    list of (feature, estimate)
        Name of a number, or a word in quotation marks, with its share. All shares have the sum 1; those of features
        that speak for the other sample are negative. Then ("", `WITHOUT`). Nothing if no feature has a name, or if
        there is only one.
    """
    documents = label_documents(reference, candidate, group_labels(reference.keys, candidate.keys))
    names, parts = list_features(documents, reference.names)
    n_numbers = documents.numbers.shape[1]
    rng = np.random.default_rng(seed)  # of the second training, so that the folds are those of `c2st_auc`
    difference = np.zeros(len(names))

    def sum_parts(of_numbers: Array, *of_words: Array) -> Array:
        padded = np.pad(of_numbers, (0, len(names) - n_numbers))
        return sum((each.T @ contributions for each, contributions in zip(parts, of_words, strict=True)), padded)

    def score(documents: LabelledDocuments, outside: Flags, inside: Flags, of_folds: np.random.Generator) -> Array:
        classification = classify(documents, outside, inside, of_folds)
        difference[:] += sum_parts(*classification.contributions(documents, inside))
        decisive = select_largest(sum_parts(*classification.contributions(documents, outside)), names)
        is_left_out = np.isin(np.arange(len(names)), decisive)
        without = documents.without(is_left_out[:n_numbers], [each @ is_left_out > 0 for each in parts])
        return classify(without, outside, inside, rng).log_odds

    odds = cross_fit_log_odds(documents, seed, score)
    decisive, total = select_largest(difference, names), float(difference.sum())
    if not (decisive and total > 0):
        return []
    shares = [
        (names[number], Estimate(f"{SHARE}{rank}", float(difference[number]) / total))
        for rank, number in enumerate(decisive, 1)
    ]
    return [*shares, ("", replace(estimate_auc(odds, documents, confidence), statistic=WITHOUT, p_value=UNDEFINED))]


def select_largest(contributions: Array, names: Sequence[str]) -> list[int]:
    """Return the features with names that decide most, the largest share first; one feature at least is left."""
    order = np.argsort(-contributions, kind="stable").tolist()
    named = [number for number in order if names[number]][: min(MOST, len(names) - 1)]
    return [number for number in named if contributions[number] > max(0.0, LEAST * contributions[named[0]])]


def list_features(documents: LabelledDocuments, names: Sequence[str]) -> tuple[list[str], list[sparse.csr_matrix]]:
    """List names of the numbers (none if they were reduced) and words, and shares of these in the words of each bag."""
    n_numbers = documents.numbers.shape[1]
    numbers: dict[str, int] = {}
    bags = [[word.split(JOINT) for word in words] for words in documents.words]
    columns = [[numbers.setdefault(part, n_numbers + len(numbers)) for each in bag for part in each] for bag in bags]
    parts = []
    for bag, column in zip(bags, columns, strict=True):
        sizes = np.array([len(each) for each in bag])
        entries = np.repeat(1 / sizes, sizes), (np.repeat(np.arange(len(bag)), sizes), column)
        parts.append(sparse.csr_matrix(entries, shape=(len(bag), n_numbers + len(numbers))))
    of_numbers = names if len(names) == n_numbers else [""] * n_numbers
    return [*of_numbers, *(f"“{word}”" for word in numbers)], parts
