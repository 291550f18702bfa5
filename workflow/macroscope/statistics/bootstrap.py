"""Bootstrap over documents, for statistics that are functions of sums.

A corpus-level statistic such as the latent PPL, exp(sum T / sum M), depends on the documents only through sums of
per-document columns. Resampling therefore adds rows again and never repeats inference. `rows` always has the axes
documents x columns.
"""

import numpy as np
from numpy.typing import ArrayLike

from macroscope.statistics.document_sums import Array, as_matrix, sum_into_bundles

_DRAWS_AT_ONCE = 100_000


def bootstrap_sums(rows: ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """Compute column sums of `resamples` samples of n documents with replacement; of very many, bundles are sampled.

    Returns
    -------
    array
        resamples x columns.
    """
    rows = sum_into_bundles(as_matrix(rows))
    n = len(rows)
    sums = np.empty((resamples, rows.shape[1]))
    at_once = max(1, _DRAWS_AT_ONCE // n)  # a call of `integers` takes as long as a hundred numbers
    for start in range(0, resamples, at_once):
        drawn = rng.integers(0, n, (min(at_once, resamples - start), n))
        for r, chosen in enumerate(drawn, start):
            sums[r] = np.bincount(chosen, minlength=n) @ rows
    return sums


def percentile_interval(values: ArrayLike, confidence: float) -> tuple[float, float]:
    """Compute the percentile interval (Efron and Tibshirani 1993, ch. 13); (nan, nan) if a value is undefined."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        return (float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return (float(low), float(high))
