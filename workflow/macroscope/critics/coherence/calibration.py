"""How far the section classifier can be trusted: accuracy and calibration on validation sections."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

BINS = 10


def reliability(posterior: NDArray[np.floating], gold: ArrayLike) -> pd.DataFrame:
    """Reliability diagram of the MAP label (Guo et al. 2017).

    Parameters
    ----------
    posterior
        Sections x types.
    gold
        True type of each section, as an index.

    Returns
    -------
    data frame, one row a confidence bin
        low, high, sections, confidence (mean posterior of the MAP label), accuracy; NaN where a bin is empty.
    """
    gold = np.asarray(gold)
    confidence = posterior.max(axis=1)
    correct = posterior.argmax(axis=1) == gold
    edges = np.linspace(0, 1, BINS + 1)
    bins = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    rows = []
    for b in range(BINS):
        inside = bins == b
        n = int(inside.sum())
        mean = (float(confidence[inside].mean()), float(correct[inside].mean())) if n else (np.nan, np.nan)
        rows.append((edges[b], edges[b + 1], n, *mean))
    return pd.DataFrame(rows, columns=["low", "high", "sections", "confidence", "accuracy"])


def expected_calibration_error(table: pd.DataFrame) -> float:
    """Mean |accuracy - confidence| over sections, in [0, 1]; 0 is perfectly calibrated."""
    filled = table[table["sections"] > 0]
    gap = (filled["accuracy"] - filled["confidence"]).abs()
    return float((gap * filled["sections"]).sum() / filled["sections"].sum())


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion; (0, 1) for n = 0."""
    from scipy.stats import binomtest

    if n == 0:
        return (0.0, 1.0)
    interval = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    return (float(interval.low), float(interval.high))
