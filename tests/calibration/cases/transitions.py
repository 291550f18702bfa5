"""Section transitions of documents, some of which loop."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.coherence.prior import SectionPrior, count_transitions
from macroscope.critics.coherence.smoothing import Additive
from macroscope.critics.coherence.transitions import build_transition_table
from macroscope.options import Resampling
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import Estimate

from ..setting import Case, Run, Setting

PRIOR = SectionPrior(("a", "b", "c"), count_transitions([[0, 1, 2]], 3), Additive(1.0))


def documents(n: int, looping: float, rare: float, rng: np.random.Generator) -> list[list[int]]:
    """Sample documents of a, then b, then c or the end; a share of the documents repeats b many times."""
    sequences = []
    for _ in range(n):
        repeats = 1 + rng.geometric(0.1) if rng.random() < looping else 1
        sequences.append([0, *[1] * int(repeats), *([2] if rng.random() < rare else [])])
    return sequences


def simulate(rng: np.random.Generator, n: int, m: int, cell: tuple[str, str], looping: float, rare: float) -> Run:
    """Compute one transition of the table, since a run has one value per statistic."""
    control, system = documents(n, looping, rare, rng), documents(m, looping, rare, rng)
    resampling = Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))
    table = build_transition_table(system, control, PRIOR, 0.01, resampling, Permutation((n, m)))
    row = table.set_index(["previous", "next"]).loc[[cell]] if cell in _cells(table) else table.iloc[:0]
    sections = 1 + looping * 10
    stays = 1 - 1 / sections
    truth = {("b", "b"): stays, ("b", "c"): rare / sections}[cell]
    columns = ["probability", "probability_low", "probability_high", "p_value"]
    estimates = [Estimate("transition_probability", *values) for values in row[columns].to_numpy()]
    return estimates, {"transition_probability": truth}


def _cells(table: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(table["previous"], table["next"], strict=True))


_LOOP, _RARE = ("b", "b"), ("b", "c")
CASE = Case(
    "macroscope.critics.coherence.transitions:STATISTICS",
    (
        Setting(
            "15 % loop, 40 against 100", partial(simulate, n=100, m=40, cell=_LOOP, looping=0.15, rare=0.3), ("*",)
        ),
        Setting("half loop, 30 against 30", partial(simulate, n=30, m=30, cell=_LOOP, looping=0.5, rare=0.3), ("*",)),
        Setting(
            "a rare one, 60 against 150", partial(simulate, n=150, m=60, cell=_RARE, looping=0.15, rare=0.05), ("*",)
        ),
    ),
    {"*": "a rare transition has few possible values, and the test is conservative"},
)
