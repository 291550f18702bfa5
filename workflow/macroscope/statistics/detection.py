"""How well a detector's decisions agree with the truth, with intervals by story (cai2020 §5.1, Table 3).

A story has several decisions, which depend on each other; so stories are resampled, never decisions. Accuracy,
precision, recall and F1 are functions of sums over stories. The area under the ROC curve is that of all decisions
together (Fawcett 2006), ties counting half.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.statistics.bootstrap import bootstrap_sums, percentile_interval
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling

METRICS = ("accuracy", "precision", "recall", "f1", "auc")
_CELLS_AT_ONCE = 1 << 23


@dataclass(frozen=True)
class Decisions:
    """Decisions of a detector on positions whose truth is known.

    Attributes
    ----------
    stories
        Number of the story of each.
    labels
        Whether something is wrong there.
    scores
        What the detector says: the larger, the surer that something is wrong.
    """

    stories: npt.NDArray[np.int64]
    labels: npt.NDArray[np.bool_]
    scores: Array

    def __len__(self) -> int:
        return len(self.labels)


def detection_metrics(decisions: Decisions, threshold: float, resampling: Resampling) -> pd.DataFrame:
    """Metrics of decisions; a score of at least the threshold says that something is wrong.

    Returns
    -------
    data frame
        metric (`METRICS`), value, ci_low, ci_high: percentile intervals over stories; NaN where a metric is undefined
        (no decision of a kind), its ends also where it is so in a resample.
    """
    counts = _counts(decisions, threshold)
    rng = np.random.default_rng(resampling.seed)
    values = dict(zip(METRICS[:-1], _of_counts(counts.sum(axis=0)), strict=True)) | {"auc": auc(decisions)}
    drawn = dict(
        zip(METRICS[:-1], np.transpose(_of_counts(bootstrap_sums(counts, resampling.resamples, rng))), strict=True)
    )
    drawn["auc"] = _resampled_auc(decisions, resampling.resamples, rng)
    rows = [(name, values[name], *percentile_interval(drawn[name], resampling.confidence)) for name in METRICS]
    return pd.DataFrame(rows, columns=["metric", "value", "ci_low", "ci_high"])


def auc(decisions: Decisions) -> float:
    """Area under the ROC curve: the chance that a wrong position scores higher than a right one; NaN without either."""
    return float(_auc(_Ranked(decisions), np.ones((1, len(decisions))))[0])


def roc_curve(decisions: Decisions) -> pd.DataFrame:
    """Points of the ROC curve, from no decision to all: threshold, false_positive_rate, true_positive_rate.

    One point for each different score, and that at which nothing is called wrong (threshold infinite).
    """
    order = np.argsort(-decisions.scores, kind="stable")
    scores, labels = decisions.scores[order], decisions.labels[order]
    last = np.flatnonzero(np.append(np.diff(scores) != 0, True)) if len(scores) else np.empty(0, dtype=int)
    found, false = np.cumsum(labels)[last], np.cumsum(~labels)[last]
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "threshold": [np.inf, *scores[last]],
                "false_positive_rate": [0.0, *(false / (~labels).sum())],
                "true_positive_rate": [0.0, *(found / labels.sum())],
            }
        )


def best_threshold(decisions: Decisions) -> float:
    """Score from which on positions are called wrong with the largest F1; of several the highest. NaN without any."""
    order = np.argsort(-decisions.scores, kind="stable")
    scores, labels = decisions.scores[order], decisions.labels[order]
    if not labels.any():
        return float("nan")
    last = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    found, called = np.cumsum(labels)[last], last + 1
    return float(scores[last][np.argmax(2 * found / (called + labels.sum()))])


def _counts(decisions: Decisions, threshold: float) -> Array:
    """Stories x (true positives, false positives, false negatives, true negatives)."""
    said = decisions.scores >= threshold
    truth = decisions.labels
    kinds = np.column_stack([said & truth, said & ~truth, ~said & truth, ~said & ~truth]).astype(float)
    stories, where = np.unique(decisions.stories, return_inverse=True)
    counts = np.zeros((len(stories), 4))
    np.add.at(counts, where, kinds)
    return counts


def _of_counts(counts: Array) -> Array:
    """Accuracy, precision, recall, F1 (last axis) of sums of counts."""
    tp, fp, fn, tn = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [(tp + tn) / (tp + fp + fn + tn), tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)]
    return np.stack(parts, axis=-1)


class _Ranked:
    """Decisions in the order of their scores, equal ones as one."""

    def __init__(self, decisions: Decisions) -> None:
        self.order = np.argsort(decisions.scores, kind="stable")
        scores = decisions.scores[self.order]
        self.first = np.flatnonzero(np.append(True, np.diff(scores) != 0)) if len(scores) else np.empty(0, dtype=int)
        self.labels = decisions.labels[self.order]


def _auc(ranked: _Ranked, weights: Array) -> Array:
    """AUC of decisions of these weights (resamples x decisions)."""
    if not len(ranked.order):
        return np.full(len(weights), np.nan)
    weights = weights[:, ranked.order]
    wrong = np.add.reduceat(weights * ranked.labels, ranked.first, axis=1)
    right = np.add.reduceat(weights * ~ranked.labels, ranked.first, axis=1)
    below = np.cumsum(right, axis=1) - right / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((wrong * below).sum(axis=1) / (wrong.sum(axis=1) * right.sum(axis=1)))


def _resampled_auc(decisions: Decisions, resamples: int, rng: np.random.Generator) -> Array:
    stories, where = np.unique(decisions.stories, return_inverse=True)
    ranked = _Ranked(decisions)
    size = max(1, _CELLS_AT_ONCE // max(1, len(decisions)))
    found = []
    for start in range(0, resamples, size):
        drawn = rng.integers(0, max(1, len(stories)), (min(size, resamples - start), len(stories)))
        times = np.stack([np.bincount(row, minlength=len(stories)) for row in drawn]).astype(float)
        found.append(_auc(ranked, times[:, where]))
    return np.concatenate(found) if found else np.empty(0)
