"""Detectability by label: the classifier two-sample test within the texts of each label, and whether labels differ.

A label is a genre, a category or the like. Pairs are formed within a fold and a label, so that another mix of labels on
the two sides does not count. The log odds of a text are those of the classifier of all texts plus those of a classifier
that is trained on the texts of its label alone. The first finds what is common to all labels with all texts; the
second finds what only one label has, or what has another sign there.

The contrast of a label is its AUC minus the mean AUC of the other labels. Signs of the influences of units are flipped
at random, and the largest of all studentised contrasts is compared with those after flips (max t). So the test that
all labels have one AUC rejects if, and only if, the simultaneous interval of some contrast leaves out 0. The variance
of a contrast is the mean of two: of the mean variance over orders of the folds, which is too large, and of the variance
of the mean influences, which leaves out that orders share training texts, and is too small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from macroscope.statistics.classifier_two_sample_test import (
    CrossFittedOdds,
    Scorer,
    cross_fit_log_odds,
    estimate_auc,
    interval_of_auc,
    mean_auc,
)
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_classifier import Flags, LabelledDocuments, classify, label_documents
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import Integers, group_labels
from macroscope.statistics.max_t import critical_value, flip_signs, max_t_p_values
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.tidy import UNDEFINED, Estimate

AUC, CONTRAST = "c2st_auc_of_label_", "c2st_auc_contrast_of_label_"
WITHIN, DIFFER, MIX = "c2st_auc_within_labels", "c2st_auc_differs_by_label", "mix_of_labels"
UNLABELLED = "c2st_auc_unlabelled"
FEWEST = 10
"""Smallest number of prompts (or texts without one) of a label on each side."""
MOST = 100
"""Largest number of labels that have rows."""
STATISTICS = (
    Statistic(
        f"{AUC}*",
        "AUC of classifiers, trained on this number of documents, of single documents of one label",
        "classifiers detect single documents of the label no better than by chance",
        difference=False,  # adjusted together, over labels and critics
        sized=True,
    ),
    Statistic(
        f"{CONTRAST}*",
        "AUC within the label minus the mean of the other labels; intervals hold all labels at once",
        "the AUC within the label is the mean of the other labels",
        difference=False,
        sized=True,
    ),
    Statistic(WITHIN, "mean AUC over labels: both sides have the same mix", difference=False, sized=True),
    Statistic(DIFFER, null="all labels have the same AUC", difference=False),
    Statistic(MIX, null="both sides have the same mix of labels", difference=False),
    Statistic(UNLABELLED),
)
Labels = Sequence[str | None]


@dataclass(frozen=True)
class LabelEstimate:
    """An estimate about a label ("": about all), the numbers of its documents, and why its value is NaN."""

    label: str
    estimate: Estimate
    sizes: tuple[int, int]
    reason: str = ""


class _Auc(NamedTuple):
    """AUC within a label.

    `variance` is that of its test, raised as Agresti and Caffo (2000) raise that of a share: texts that are separated
    completely have none. `influences`: orders of the folds x units. `weight`: n m / (n + m) units.
    """

    value: float
    variance: float
    influences: Array
    weight: float


def compare_by_label(
    samples: tuple[DocumentFeatures, DocumentFeatures],
    labels: tuple[Labels, Labels],
    confidence: float,
    draws: int,
    seed: int,
) -> list[LabelEstimate]:
    """Compare two samples of documents, reference and candidate, within each label; see the module.

    A document without a label has that of its prompt's other documents, if these have one alone.

    Parameters
    ----------
    labels
        Label of each document of both samples; None if it has none.
    draws
        Number of sign flips, and of random mixes.

    Returns
    -------
    list of estimates
        Of each label, the most frequent first: the AUC, which is NaN with fewer than `FEWEST` units on a side, and its
        contrast, if another label has an AUC. Then those of all labels.
    """
    documents = label_documents(*samples, group_labels(samples[0].keys, samples[1].keys))
    names = fill_labels(pd.Series([*labels[0], *labels[1]], dtype=object), documents.group)
    ranked = names.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST]
    strata = ranked.get_indexer(names)
    parts = [documents.subset(strata == number) for number in range(len(ranked))]
    enough = {number: part for number, part in enumerate(parts) if min(part.group_counts) >= FEWEST}
    odds = cross_fit_log_odds(documents, seed, _scorer(strata, enough), strata)
    tests = {number: _test(odds, part, strata == number, confidence) for number, part in enough.items()}
    compared = [number for number, test in tests.items() if not np.isnan(test.value)]
    aucs = {number: _measure(odds, documents, parts[number], strata == number) for number in compared}
    contrasts = _contrast([*aucs.values()], confidence, draws, seed) if len(aucs) > 1 else []
    rows = []
    for number, (label, part) in enumerate(zip(ranked, parts, strict=True)):
        test = tests.get(number, Estimate("", UNDEFINED))
        rows.append(_row(label, f"{AUC}{number + 1}", test, part))
        if number in compared and contrasts:
            contrast = contrasts[compared.index(number)]
            rows.append(_row(label, f"{CONTRAST}{number + 1}", contrast, part))
    if (strata < 0).any():
        nothing = Estimate("", UNDEFINED)
        why = f"without a label, or with none of the {MOST} most frequent ones"
        rows.append(_row("", UNLABELLED, nothing, documents.subset(strata < 0), why))
    if contrasts:
        used = documents.subset(np.isin(strata, compared))
        rows.append(_row("", WITHIN, _average([*aucs.values()], used.group_counts, confidence), used))
        surest = min(contrasts, key=lambda each: each.p_value)
        rows.append(_row("", DIFFER, Estimate("", abs(surest.value), p_value=surest.p_value), used))
    if len(ranked) > 1:
        rows.append(_row("", MIX, _compare_mixes(documents, strata, draws, seed), documents.subset(strata >= 0)))
    return rows


def fill_labels(labels: pd.Series, units: Integers) -> pd.Series:
    """Return labels in which a document without one has that of its unit, if this has one alone."""
    by_unit = labels.groupby(units)
    return labels.where(labels.notna() | (by_unit.transform("nunique") != 1), by_unit.transform("first"))


def _row(label: str, name: str, estimate: Estimate, part: LabelledDocuments, reason: str = "") -> LabelEstimate:
    candidate = int(part.labels.sum())
    sizes = len(part.labels) - candidate, candidate
    units = part.group_counts
    if np.isnan(estimate.value) and not reason:
        reason = f"{units[0]:,} real and {units[1]:,} other texts or prompts; a label needs {FEWEST} on each side"
    named = Estimate(name, estimate.value, estimate.ci_low, estimate.ci_high, estimate.p_value)
    return LabelEstimate(label, named, sizes, reason)


def _scorer(strata: Integers, parts: Mapping[int, LabelledDocuments]) -> Scorer:
    """Return the function that scores documents by all texts, and by those of their label; see the module."""

    def score(documents: LabelledDocuments, outside: Flags, inside: Flags, rng: np.random.Generator) -> Array:
        log_odds = np.full(len(strata), np.nan)
        log_odds[inside] = classify(documents, outside, inside, rng).log_odds
        for number, part in parts.items():
            chosen = strata == number
            if (inside & chosen).any():
                log_odds[inside & chosen] += classify(part, outside[chosen], inside[chosen], rng).log_odds
        return log_odds[inside]

    return score


def _test(odds: CrossFittedOdds, part: LabelledDocuments, chosen: Flags, confidence: float) -> Estimate:
    """Compute the AUC within a label; NaN if an order of the folds has no fold with texts of both sides."""
    within = CrossFittedOdds(odds.log_odds[chosen], odds.folds[chosen])
    for log_odds, folds in zip(within.log_odds.T, within.folds.T, strict=True):
        of_samples = [folds[np.isfinite(log_odds) & (part.labels == sample)] for sample in (0, 1)]
        if not len(np.intersect1d(*of_samples)):
            return Estimate("", UNDEFINED)
    return estimate_auc(within, part, confidence)


def _measure(odds: CrossFittedOdds, documents: LabelledDocuments, part: LabelledDocuments, chosen: Flags) -> _Auc:
    within = CrossFittedOdds(np.where(chosen[:, np.newaxis], odds.log_odds, np.nan), odds.folds)
    value, influences = mean_auc(within, documents)
    n, m = part.group_counts
    variance, spread = _variance(influences), value * (1 - value)
    units = min(spread / variance, n + m) if variance > 0 and spread > 0 else min(n, m)
    raised = (value * units + 1) / (units + 2)
    return _Auc(value, max(variance, raised * (1 - raised) / (units + 2)), influences, n * m / (n + m))


def _variance(influences: Array) -> float:
    """Return the mean of the mean variance over orders and of the variance of mean influences; see the module."""
    n_scored = int(np.count_nonzero(influences, axis=1).min())
    variances = (influences**2).sum(axis=1).mean(), (influences.mean(axis=0) ** 2).sum()
    return float(np.mean(variances)) * n_scored / max(1, n_scored - 1)


def _average(aucs: Sequence[_Auc], sizes: tuple[int, int], confidence: float) -> Estimate:
    """Compute the mean AUC over labels, by weight."""
    weights = np.array([each.weight for each in aucs])
    weights /= weights.sum()
    value = float(weights @ [each.value for each in aucs])
    low, high = interval_of_auc(value, _variance_of_sum(aucs, weights), sizes, confidence)
    return Estimate("", value, low, high)


def _variance_of_sum(aucs: Sequence[_Auc], weights: Array) -> float:
    """Return the variance of a weighted sum of AUCs: of independent ones, or more if labels have units in common."""
    influences = np.tensordot(weights, np.stack([each.influences for each in aucs]), axes=1)
    return max(_variance(influences), float(weights**2 @ [each.variance for each in aucs]))


def _contrast(aucs: Sequence[_Auc], confidence: float, draws: int, seed: int) -> list[Estimate]:
    """Compare each label with the mean of the others; intervals and p-values hold for all labels at once."""
    weights = np.array([each.weight for each in aucs])
    coefficients = np.where(np.eye(len(aucs), dtype=bool), 1.0, -weights / (weights.sum() - weights)[:, np.newaxis])
    differences = coefficients @ [each.value for each in aucs]
    errors = np.sqrt([_variance_of_sum(aucs, each) for each in coefficients])
    influences = np.stack([each.influences.mean(axis=0) for each in aucs], axis=1) @ coefficients.T
    largest = flip_signs(influences, draws, np.random.default_rng(seed)).max(axis=1)
    half = critical_value(largest, confidence) * errors
    p_values = max_t_p_values(np.abs(differences) / errors, largest)
    rows = zip(differences, differences - half, differences + half, p_values, strict=True)
    return [Estimate("", *map(float, numbers)) for numbers in rows]


def _compare_mixes(documents: LabelledDocuments, strata: Integers, draws: int, seed: int) -> Estimate:
    """Compute the share of texts that would need another label for equal mixes, and test it over unpaired units."""
    chosen = strata >= 0
    units = pd.DataFrame({"group": documents.group, "sample": documents.labels, "stratum": strata})[chosen]
    shares = pd.crosstab(units["stratum"], units["sample"], normalize="columns").to_numpy()
    value = float(np.abs(shares[:, 0] - shares[:, -1]).sum() / 2)
    is_unpaired = units.groupby("group")["sample"].transform("nunique") == 1
    unpaired = units[is_unpaired].drop_duplicates("group")
    table = pd.crosstab(unpaired["stratum"], unpaired["sample"]).to_numpy()
    if table.shape[1] < 2:
        return Estimate("", value)
    totals, n = table.sum(axis=1), int(table[:, 0].sum())
    expected = totals * n / totals.sum()
    permuted = np.random.default_rng(seed).multivariate_hypergeometric(totals, n, size=draws)
    squares = ((np.vstack([table[:, 0], permuted]) - expected) ** 2 / expected).sum(axis=1)
    return Estimate("", value, p_value=p_value_from_null(float(squares[0]), squares[1:]))
