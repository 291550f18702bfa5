"""Columns of text: total variation beside the divergences of `cases.categories`."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.columns import compare_columns

from ..setting import Case, Run, Setting, list_estimates
from .categories import SETTINGS


def simulate(rng: np.random.Generator, n: int, m: int) -> Run:
    """Compare tables of names of one distribution."""
    p = np.random.default_rng(0).dirichlet(np.full(12, 1.5))
    tables = [pd.DataFrame({"kind": rng.choice(list("abcdefghijkl"), size, p=p)}) for size in (n, m)]
    table = compare_columns(*tables, ["kind"], Resampling(100, 199, 0.95, int(rng.integers(1 << 30))))
    return list_estimates(table), {}


CASE = Case(
    "macroscope.statistics.columns:TEXT",
    (
        Setting("12 categories, 60 against 150", partial(simulate, n=60, m=150), ("*",)),
        Setting("12 categories, 8 against 9", partial(simulate, n=8, m=9), ("*",)),
        *(replace(setting, runs=200) for setting in SETTINGS if setting.name.startswith("5 categories, 200")),
    ),
    {"*": "with few values few distances are possible, and the test is conservative"},
)
