"""System against system: paired and unpaired, skewed and few documents; values with intervals."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.resampling import Resampling
from macroscope.statistics.pairs import compare_documents, compare_intervals
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.tidy import Estimate

from ..setting import Case, Run, Setting


def documents(rng: np.random.Generator, n: int, m: int, effect: float, is_paired: bool) -> Run:
    """Compare skewed T(x) of documents of different lengths by the latent PPL."""
    units = rng.integers(3, 12, n).astype(float)
    shared = rng.gamma(2.0, 1.0, n)
    systems = []
    for size, prefix, shift in ((n, "a", effect), (m, "a" if is_paired else "b", 0.0)):
        units_of_system = units[:size] if is_paired else rng.integers(3, 12, size).astype(float)
        level = shared[:size] if is_paired else rng.gamma(2.0, 1.0, size)
        nll = units_of_system * (level + rng.gamma(1.0, 0.5, size) + shift)
        systems.append(
            pd.DataFrame({"id": [f"{prefix}{i}" for i in range(size)], "nll": nll, "units": units_of_system})
        )
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare_documents(*systems, resampling).set_index("statistic")
    row = table.loc["latent_ppl", ["value", "ci_low", "ci_high", "p_value"]]
    return [Estimate("documents_ratio", *map(float, row))], {"documents_ratio": float(np.exp(effect))}


def intervals(rng: np.random.Generator, n: int, m: int, first: float, second: float) -> Run:
    """Compare shares with Wilson's intervals."""
    systems = []
    for size, share in ((n, first), (m, second)):
        k = rng.binomial(size, share)
        low, high = wilson_interval(k, size)
        systems.append(pd.DataFrame([("s", k / size, float(low), float(high), size)], columns=_COLUMNS))
    row = compare_intervals(*systems, 0.95, lambda name: False).iloc[0]
    difference = Estimate(
        "intervals_difference", *(float(row[name]) for name in ("value", "ci_low", "ci_high", "p_value"))
    )
    return [difference], {"intervals_difference": first - second}


_COLUMNS = ["statistic", "value", "ci_low", "ci_high", "n_candidate"]
CASE = Case(
    "macroscope.statistics.pairs:STATISTICS",
    (
        Setting(
            "60 against 30 documents", partial(documents, n=60, m=30, effect=0.0, is_paired=False), ("documents_*",)
        ),
        Setting("40 pairs", partial(documents, n=40, m=40, effect=0.0, is_paired=True), ("documents_*",)),
        Setting("60 pairs, different", partial(documents, n=60, m=60, effect=0.3, is_paired=True), runs=500),
        Setting("shares of 50 and 80", partial(intervals, n=50, m=80, first=0.3, second=0.3), ("intervals_*",)),
        Setting("rare shares of 60 and 60", partial(intervals, n=60, m=60, first=0.05, second=0.05), ("intervals_*",)),
        Setting("different shares", partial(intervals, n=80, m=40, first=0.6, second=0.2)),
    ),
    {
        "documents_*": "intervals of few skewed documents are at least as long as Student's",
        "intervals_*": "Wilson's intervals of few shares are discrete",
    },
)
