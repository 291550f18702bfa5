"""Two systems against each other: documents with and without partners, skewed, few; numbers from two intervals."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.statistics.latent import Resampling
from macroscope.statistics.pairs import compare_documents, compare_intervals
from macroscope.statistics.proportions import wilson_interval

from ..setting import Case, Drawn, Setting


def documents(rng: np.random.Generator, n: int, m: int, effect: float, partners: bool) -> Drawn:
    """Skewed T(x) of documents of unlike length, and the mean and the perplexity that they make."""
    units = rng.integers(3, 12, n).astype(float)
    shared = rng.gamma(2.0, 1.0, n)
    sides = []
    for size, prefix, shift in ((n, "a", effect), (m, "a" if partners else "b", 0.0)):
        own = units[:size] if partners else rng.integers(3, 12, size).astype(float)
        level = shared[:size] if partners else rng.gamma(2.0, 1.0, size)
        nll = own * (level + rng.gamma(1.0, 0.5, size) + shift)
        sides.append(pd.DataFrame({"id": [f"{prefix}{i}" for i in range(size)], "nll": nll, "units": own}))
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    found = compare_documents(*sides, resampling).set_index("statistic")
    row = found.loc["latent_ppl", ["value", "ci_low", "ci_high", "p_value"]]
    return [("documents_ratio", *map(float, row))], {"documents_ratio": float(np.exp(effect))}


def intervals(rng: np.random.Generator, n: int, m: int, first: float, second: float) -> Drawn:
    """Shares with Wilson's intervals."""
    sides = []
    for size, share in ((n, first), (m, second)):
        k = rng.binomial(size, share)
        low, high = wilson_interval(k, size)
        sides.append(pd.DataFrame([("s", k / size, float(low), float(high), size)], columns=_COLUMNS))
    row = compare_intervals(*sides, 0.95, lambda name: False).iloc[0]
    found = ("intervals_difference", *(float(row[name]) for name in ("value", "ci_low", "ci_high", "p_value")))
    return [found], {"intervals_difference": first - second}


_COLUMNS = ["statistic", "value", "ci_low", "ci_high", "n_candidate"]
CASE = Case(
    "macroscope.statistics.pairs:STATISTICS",
    (
        Setting(
            "60 against 30 documents", partial(documents, n=60, m=30, effect=0.0, partners=False), ("documents_*",)
        ),
        Setting("40 partners", partial(documents, n=40, m=40, effect=0.0, partners=True), ("documents_*",)),
        Setting("60 partners, apart", partial(documents, n=60, m=60, effect=0.3, partners=True), runs=500),
        Setting("shares of 50 and 80", partial(intervals, n=50, m=80, first=0.3, second=0.3), ("intervals_*",)),
        Setting("rare shares of 60 and 60", partial(intervals, n=60, m=60, first=0.05, second=0.05), ("intervals_*",)),
        Setting("shares apart", partial(intervals, n=80, m=40, first=0.6, second=0.2)),
    ),
    {
        "documents_*": "intervals of few skewed documents are at least as long as Student's",
        "intervals_*": "Wilson's intervals of few shares are discrete",
    },
)
