"""System against system: paired and unpaired, skewed and few documents; values with intervals."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.document_keys import number_sample
from macroscope.options import Resampling
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
    return _ratio(systems, float(np.exp(effect)), rng)


def prompts(rng: np.random.Generator, sizes: tuple[tuple[int, int], tuple[int, int]]) -> Run:
    """Compare several texts of each of a system's prompts, which the other system has not: (prompts, texts) of each."""
    systems = []
    for prefix, (number, texts) in zip("ab", sizes, strict=True):
        units = rng.integers(3, 12, number * texts).astype(float)
        nll = units * (np.repeat(rng.gamma(2.0, 1.0, number), texts) + rng.gamma(1.0, 0.5, number * texts))
        names = [number_sample(f"{prefix}{i}", j + 1) for i in range(number) for j in range(texts)]
        systems.append(pd.DataFrame({"id": names, "nll": nll, "units": units}))
    return _ratio(systems, 1.0, rng)


def _ratio(systems: list[pd.DataFrame], truth: float, rng: np.random.Generator) -> Run:
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare_documents(*systems, resampling).set_index("statistic")
    row = table.loc["latent_ppl", ["value", "ci_low", "ci_high", "p_value"]]
    return [Estimate("documents_ratio", *map(float, row))], {"documents_ratio": truth}


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
        Setting(
            "4 texts of 30 prompts against 3 of 20 others",
            partial(prompts, sizes=((30, 4), (20, 3))),
            ("documents_*",),
        ),
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
