"""Accuracy, calibration and confusion of the section classifier on validation sections, and whether it is good enough.

The stage `train` warns as soon as it is known, long before the report, which gives the same sentence as the reason why
the critic is not usable.

T(x) is an expectation over the classifier's posterior, so the posterior must be calibrated: a classifier with an
accuracy of 99 % but a confidence of 80 % puts weight on transitions that do not occur. A single temperature, fitted on
validation sections, calibrates it without changing any MAP label (Guo et al. 2017).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from macroscope.critics.coherence.smoothing import Array
from macroscope.files import read_json, write_json
from macroscope.statistics.proportions import share_interval


def add_interval(validation: dict[str, Any], documents: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Add the interval of the accuracy, over documents, to the classifier's validation results.

    Parameters
    ----------
    documents
        One row per validation document; columns sections, correct.
    """
    _, low, high = share_interval(documents["correct"], documents["sections"], confidence)
    names = list(validation)
    at = names.index("accuracy") + 1
    interval = {"accuracy_low": low, "accuracy_high": high}
    return {name: (validation | interval)[name] for name in [*names[:at], *interval, *names[at:]]}


def check_classifier(validation: dict[str, float]) -> str | None:
    """Return a warning if the accuracy is not significantly above that of always predicting the most common type."""
    if validation["accuracy_low"] > validation["majority_share"]:
        return None
    return (
        f"The section classifier has an accuracy of {validation['accuracy']:.0%} on {validation['sections']:.0f}"
        " validation sections; always predicting the most common type would be right on"
        f" {validation['majority_share']:.0%}. The difference is not significant: do not rely on the numbers of this"
        " critic. More training documents, a larger encoder or more epochs may help."
    )


BINS = 10
_LOG_TEMPERATURE = (-4.0, 4.0)


def fit_temperature(logits: NDArray[np.floating], gold: NDArray[np.integer]) -> float:
    """Fit the temperature that calibrates softmax(logits / temperature), by maximum likelihood.

    Parameters
    ----------
    logits
        Array sections x types.
    gold
        True type of each section, as an index; sections with -1 (another type) are ignored.

    Returns
    -------
    float
        Positive temperature; below 1, the classifier was underconfident. 1 if no section has a known type. The targets
        are those of Platt (1999): 1 - 1/(n + 2) for the true type, so that a classifier without any error on the n
        sections does not become certain.
    """
    from scipy.optimize import minimize_scalar  # slow to import; only this stage needs it

    is_typed = gold >= 0
    logits, gold = np.asarray(logits, dtype=float)[is_typed], gold[is_typed]
    n, types = logits.shape
    if n == 0:
        return 1.0
    noise = 1 / (n + 2)
    targets = np.full_like(logits, noise / (types - 1))
    targets[np.arange(n), gold] = 1 - noise

    def loss(log_temperature: float) -> float:
        return float(-(targets * log_softmax(logits / np.exp(log_temperature), axis=1)).sum() / n)

    return float(np.exp(minimize_scalar(loss, bounds=_LOG_TEMPERATURE, method="bounded").x))


def calibrate(logits: NDArray[np.floating], temperature: float) -> NDArray[np.float32]:
    """Return the posterior at a temperature; rows sum to 1."""
    return softmax(np.asarray(logits, dtype=float) / temperature, axis=1).astype(np.float32)


def cross_calibrate(logits: NDArray[np.floating], gold: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the posterior of each section at a temperature fitted on the other half of the sections.

    For validation: the temperature of a section is never fitted on its own type.
    """
    posterior = np.empty(logits.shape, dtype=np.float32)
    for half in (slice(0, None, 2), slice(1, None, 2)):
        other_half = slice(1 - half.start, None, 2)
        posterior[half] = calibrate(logits[half], fit_temperature(logits[other_half], gold[other_half]))
    return posterior


def compute_reliability(posterior: NDArray[np.floating], gold: ArrayLike, document: ArrayLike) -> pd.DataFrame:
    """Compute the reliability diagram of the MAP label (Guo et al. 2017).

    Parameters
    ----------
    posterior
        Array sections x types.
    gold
        True type of each section, as an index.
    document
        Index of the document of each section.

    Returns
    -------
    data frame, one row per confidence bin
        low, high, sections, correct, confidence (mean posterior of the MAP label), accuracy, and the sums over
        documents for the interval of the accuracy: squares, squared_sections, documents, affected (see
        `statistics.proportions.clustered_interval`); NaN if a bin is empty.
    """
    confidence = posterior.max(axis=1)
    correct = posterior.argmax(axis=1) == np.asarray(gold)
    edges = np.linspace(0, 1, BINS + 1)
    bins = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    rows = []
    for b in range(BINS):
        inside = bins == b
        sections = pd.DataFrame({"sections": 1.0, "correct": correct[inside].astype(float)})
        grouped = sections.groupby(np.asarray(document)[inside]).sum()
        n = int(inside.sum())
        accuracy = float(correct[inside].mean()) if n else np.nan
        rows.append(
            {
                "low": edges[b],
                "high": edges[b + 1],
                "sections": n,
                "correct": int(correct[inside].sum()),
                "confidence": float(confidence[inside].mean()) if n else np.nan,
                "accuracy": accuracy,
                "squares": float(((grouped["correct"] - accuracy * grouped["sections"]) ** 2).sum()),
                "squared_sections": float((grouped["sections"] ** 2).sum()),
                "documents": len(grouped),
                "affected": min(
                    int((grouped["correct"] > 0).sum()), int((grouped["correct"] < grouped["sections"]).sum())
                ),
            }
        )
    return pd.DataFrame(rows)


def expected_calibration_error(table: pd.DataFrame) -> float:
    """Compute the mean |accuracy - confidence| over sections, in [0, 1]; 0 is perfect calibration."""
    filled = table[table["sections"] > 0]
    gap = (filled["accuracy"] - filled["confidence"]).abs()
    return float((gap * filled["sections"]).sum() / filled["sections"].sum())


# ---- confusion -------------------------------------------------------------------------------------------------------
# The section classifier's confusion matrix, and the latent NLL corrected for it.
#
# Rows are true section types, columns inferred types: C_ij is the mean posterior of type j over validation sections of
# type i. The posterior q of a section of type z has the mean C_z, so q C^-1 has the mean e_z. Given the types, the
# posteriors of different sections are independent. The latent NLL of q C^-1 is therefore an unbiased estimate of the
# latent NLL of the true types, provided that the classifier makes the same errors as on validation sections.

PRIOR_SECTIONS = 1.0
"""Correctly classified sections added per type (pseudo-counts): a type without validation sections is not confused."""
MIN_SINGULAR_VALUE = 0.1
"""Smallest singular value down to which a confusion matrix is inverted: below it, the inverse amplifies noise."""


def estimate_confusion(posterior: NDArray[np.floating], gold: NDArray[np.integer]) -> Array:
    """Estimate the confusion matrix: the mean posterior of the sections of each type, K x K; rows sum to 1.

    Parameters
    ----------
    posterior
        Array sections x types, of sections that the classifier was not trained on.
    gold
        Index of the true type of each section; -1 if the type is not among the K types.
    """
    types = posterior.shape[1]
    matrix = PRIOR_SECTIONS * np.eye(types)
    np.add.at(matrix, gold[gold >= 0], posterior[gold >= 0])
    return matrix / matrix.sum(axis=1, keepdims=True)


def invert_confusion(confusion: Array) -> Array | None:
    """Invert a confusion matrix; return None if it is close to singular (see `MIN_SINGULAR_VALUE`)."""
    if np.linalg.svd(confusion, compute_uv=False)[-1] < MIN_SINGULAR_VALUE:
        return None
    return np.asarray(np.linalg.inv(confusion), dtype=float)


def aggregate_counts(counts: Array, confusion: Array) -> Array:
    """Compute the expected counts of inferred transitions, given `counts` of true ones (the aggregated posterior).

    A prior that is fitted to them is the optimal prior of deng2022, Appendix B, if errors in neighbouring sections are
    independent.

    Parameters
    ----------
    counts
        Array (K + 1) x (K + 1), begin first, end last; see `smoothing`.
    """
    left, right = np.eye(len(counts)), np.eye(len(counts))
    left[1:, 1:], right[:-1, :-1] = confusion, confusion
    return left.T @ counts @ right


def write_confusion(path: Path, confusion: Array) -> None:
    write_json(path, np.round(confusion, 6).tolist())


def read_confusion(path: Path) -> Array:
    """Read a confusion matrix that `write_confusion` wrote."""
    matrix = np.array(read_json(path), dtype=float)
    return matrix / matrix.sum(axis=1, keepdims=True)
