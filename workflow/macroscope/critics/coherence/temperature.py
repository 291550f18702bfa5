"""How far the section classifier can be trusted: accuracy and calibration on validation sections.

T(x) is an expectation over the classifier's posterior, so the posterior must mean what it says: a classifier that is
right 99 times in 100 but believes itself 80 % puts weight on transitions that are not there. One temperature, fitted on
validation sections, mends that without changing any MAP label (Guo et al. 2017).
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

BINS = 10
_LOG_TEMPERATURE = (-4.0, 4.0)


def fit_temperature(logits: NDArray[np.floating], gold: NDArray[np.integer]) -> float:
    """Temperature that makes softmax(logits / temperature) the best calibrated, by maximum likelihood.

    Parameters
    ----------
    logits
        Sections x types.
    gold
        True type of each section, as an index; -1 (a type that is none of these) takes no part.

    Returns
    -------
    float
        Positive: below 1, the classifier was underconfident. 1 where no section has a known type. The targets are those
        of Platt (1999): 1 - 1/(n + 2) for the true type, so that a classifier without any error on the n sections does
        not end up certain.
    """
    from scipy.optimize import minimize_scalar  # slow to import, and most stages fit nothing

    known = gold >= 0
    logits, gold = np.asarray(logits, dtype=float)[known], gold[known]
    n, types = logits.shape
    if n == 0:
        return 1.0
    noise = 1 / (n + 2)
    targets = np.full_like(logits, noise / (types - 1))
    targets[np.arange(n), gold] = 1 - noise

    def loss(log_temperature: float) -> float:
        return float(-(targets * log_softmax(logits / np.exp(log_temperature), axis=1)).sum() / n)

    return float(np.exp(minimize_scalar(loss, bounds=_LOG_TEMPERATURE, method="bounded").x))


def calibrated(logits: NDArray[np.floating], temperature: float) -> NDArray[np.float32]:
    """Posterior at a temperature: rows sum to 1."""
    return softmax(np.asarray(logits, dtype=float) / temperature, axis=1).astype(np.float32)


def cross_calibrated(logits: NDArray[np.floating], gold: NDArray[np.integer]) -> NDArray[np.float32]:
    """Posterior of each section at the temperature that the other half of the sections gives.

    For validation: no section is judged by a temperature that has seen its type.
    """
    posterior = np.empty(logits.shape, dtype=np.float32)
    for half in (slice(0, None, 2), slice(1, None, 2)):
        other = slice(1 - half.start, None, 2)
        posterior[half] = calibrated(logits[half], fit_temperature(logits[other], gold[other]))
    return posterior


def reliability(posterior: NDArray[np.floating], gold: ArrayLike, document: ArrayLike) -> pd.DataFrame:
    """Reliability diagram of the MAP label (Guo et al. 2017).

    Parameters
    ----------
    posterior
        Sections x types.
    gold
        True type of each section, as an index.
    document
        Number of the document that each section is in.

    Returns
    -------
    data frame, one row a confidence bin
        low, high, sections, correct, confidence (mean posterior of the MAP label), accuracy, and what the interval of
        the accuracy needs of the documents: squares, squared_sections, documents, affected (see
        `statistics.proportions.clustered_interval`); NaN where a bin is empty.
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
    """Mean |accuracy - confidence| over sections, in [0, 1]; 0 is perfectly calibrated."""
    filled = table[table["sections"] > 0]
    gap = (filled["accuracy"] - filled["confidence"]).abs()
    return float((gap * filled["sections"]).sum() / filled["sections"].sum())
