"""Agreement of a detector's decisions with the truth, with intervals by story (cai2020 §5.1, Table 3).

A story has several decisions, which depend on each other, so stories are resampled, never decisions. Accuracy,
precision, recall and F1 are functions of sums over stories. The area under the ROC curve is that of all decisions
together (Fawcett 2006), ties counting half.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.resampling import Resampling
from macroscope.statistics.bootstrap import bootstrap_sums, percentile_interval
from macroscope.statistics.document_sums import Array

METRICS = ("accuracy", "precision", "recall", "f1", "auc")
_CELLS_AT_ONCE = 1 << 20
"""Weights of resampled decisions that are computed at once: five arrays of 8 MB."""


@dataclass(frozen=True)
class Decisions:
    """Decisions of a detector on positions whose truth is known.

    Attributes
    ----------
    stories
        Number of the story of each position.
    labels
        Whether a position is damaged.
    scores
        Scores of the detector: larger means more certainly damaged.
    """

    stories: npt.NDArray[np.int64]
    labels: npt.NDArray[np.bool_]
    scores: Array

    def __len__(self) -> int:
        return len(self.labels)


def detection_metrics(decisions: Decisions, threshold: float, resampling: Resampling) -> pd.DataFrame:
    """Compute metrics of decisions; positions with a score of at least the threshold are marked as damaged.

    Returns
    -------
    data frame
        metric (`METRICS`), value, ci_low, ci_high: percentile intervals over stories. NaN if a metric is undefined (no
        decision of a kind); its interval is NaN also if it is undefined in a resample.
    """
    counts = _counts(decisions, threshold, np.unique(decisions.stories))
    rng = np.random.default_rng(resampling.seed)
    values = dict(zip(METRICS[:-1], _metrics_of_counts(counts.sum(axis=0)), strict=True)) | {"auc": auc(decisions)}
    resampled = dict(
        zip(
            METRICS[:-1],
            np.transpose(_metrics_of_counts(bootstrap_sums(counts, resampling.resamples, rng))),
            strict=True,
        )
    )
    resampled["auc"] = _resampled_auc(decisions, resampling.resamples, rng)
    rows = [(name, values[name], *percentile_interval(resampled[name], resampling.confidence)) for name in METRICS]
    return pd.DataFrame(rows, columns=["metric", "value", "ci_low", "ci_high"])


def auc(decisions: Decisions) -> float:
    """Compute the area under the ROC curve, the probability that a damaged position scores higher than an intact one.

    NaN without damaged or without intact positions.
    """
    return float(_auc(_Ranked(decisions), np.ones((1, len(decisions))))[0])


def roc_curve(decisions: Decisions) -> pd.DataFrame:
    """Return points of the ROC curve, from no decision to all: threshold, false_positive_rate, true_positive_rate.

    One point for each distinct score, and the point at which no position is marked (threshold infinite).
    """
    order = np.argsort(-decisions.scores, kind="stable")
    scores, labels = decisions.scores[order], decisions.labels[order]
    last = np.flatnonzero(np.append(np.diff(scores) != 0, True)) if len(scores) else np.empty(0, dtype=int)
    true_positives, false_positives = np.cumsum(labels)[last], np.cumsum(~labels)[last]
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "threshold": np.concatenate([[np.inf], scores[last]]),
                "false_positive_rate": np.concatenate([[0.0], false_positives / (~labels).sum()]),
                "true_positive_rate": np.concatenate([[0.0], true_positives / labels.sum()]),
            }
        )


def best_threshold(decisions: Decisions) -> float:
    """Return the threshold with the largest F1, the highest of equal ones; NaN without a damaged position."""
    order = np.argsort(-decisions.scores, kind="stable")
    scores, labels = decisions.scores[order], decisions.labels[order]
    if not labels.any():
        return float("nan")
    last = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    true_positives, marked = np.cumsum(labels)[last], last + 1
    return float(scores[last][np.argmax(2 * true_positives / (marked + labels.sum()))])


def answer_metrics(people: Sequence[Decisions], resampling: Resampling) -> pd.DataFrame:
    """Compute the means, over people, of the metrics of each one's answers, which are scores of 0 and 1.

    Returns
    -------
    data frame
        metric (`METRICS` without the AUC, which answers do not have), value, ci_low, ci_high: percentile intervals over
        stories, of these people. NaN if a metric is undefined for one of them.
    """
    stories = np.unique(np.concatenate([answers.stories for answers in people]))
    counts = np.hstack([_counts(answers, 0.5, stories) for answers in people])

    def means(sums: Array) -> Array:
        return _metrics_of_counts(sums.reshape(*sums.shape[:-1], len(people), 4)).mean(axis=-2)

    resampled = means(bootstrap_sums(counts, resampling.resamples, np.random.default_rng(resampling.seed)))
    rows = [
        (name, value, *percentile_interval(values, resampling.confidence))
        for name, value, values in zip(METRICS[:-1], means(counts.sum(axis=0)), resampled.T, strict=True)
    ]
    return pd.DataFrame(rows, columns=["metric", "value", "ci_low", "ci_high"])


def _counts(decisions: Decisions, threshold: float, stories: npt.NDArray[np.int64]) -> Array:
    """Count decisions: stories x (true positives, false positives, false negatives, true negatives)."""
    marked = decisions.scores >= threshold
    truth = decisions.labels
    kinds = np.column_stack([marked & truth, marked & ~truth, ~marked & truth, ~marked & ~truth]).astype(float)
    story = np.searchsorted(stories, decisions.stories)
    counts = np.zeros((len(stories), 4))
    np.add.at(counts, story, kinds)
    return counts


def _metrics_of_counts(counts: Array) -> Array:
    """Compute accuracy, precision, recall and F1 (last axis) from sums of counts."""
    tp, fp, fn, tn = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [(tp + tn) / (tp + fp + fn + tn), tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)]
    return np.stack(parts, axis=-1)


class _Ranked:
    """Decisions in the order of their scores; equal scores are one rank."""

    def __init__(self, decisions: Decisions) -> None:
        self.order = np.argsort(decisions.scores, kind="stable")
        scores = decisions.scores[self.order]
        self.first = np.flatnonzero(np.append(True, np.diff(scores) != 0)) if len(scores) else np.empty(0, dtype=int)
        self.labels = decisions.labels[self.order]


def _auc(ranked: _Ranked, weights: Array) -> Array:
    """Compute the AUC of weighted decisions (weights: resamples x decisions)."""
    if not len(ranked.order):
        return np.full(len(weights), np.nan)
    weights = weights[:, ranked.order]
    damaged = np.add.reduceat(weights * ranked.labels, ranked.first, axis=1)
    intact = np.add.reduceat(weights * ~ranked.labels, ranked.first, axis=1)
    below = np.cumsum(intact, axis=1) - intact / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((damaged * below).sum(axis=1) / (damaged.sum(axis=1) * intact.sum(axis=1)))


def _resampled_auc(decisions: Decisions, resamples: int, rng: np.random.Generator) -> Array:
    stories, story = np.unique(decisions.stories, return_inverse=True)
    ranked = _Ranked(decisions)
    size = max(1, _CELLS_AT_ONCE // max(1, len(decisions)))
    values = []
    for start in range(0, resamples, size):
        resampled = rng.integers(0, max(1, len(stories)), (min(size, resamples - start), len(stories)))
        times = np.stack([np.bincount(row, minlength=len(stories)) for row in resampled]).astype(float)
        values.append(_auc(ranked, times[:, story]))
    return np.concatenate(values) if values else np.empty(0)
