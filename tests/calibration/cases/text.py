"""Columns of text: total variation beside the divergences of `cases.categories`."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from macroscope.statistics.columns import compare_columns
from macroscope.statistics.latent import Resampling

from ..setting import Case, Drawn, Setting
from .categories import SETTINGS


def draw(rng: np.random.Generator, n: int, m: int) -> Drawn:
    """Tables of names drawn from one distribution."""
    p = np.random.default_rng(0).dirichlet(np.full(12, 1.5))
    sides = [pd.DataFrame({"kind": rng.choice(list("abcdefghijkl"), size, p=p)}) for size in (n, m)]
    table = compare_columns(*sides, ["kind"], Resampling(100, 199, 0.95, int(rng.integers(1 << 30))))
    columns = ["statistic", "value", "ci_low", "ci_high", "p_value"]
    return list(table[columns].itertuples(index=False, name=None)), {}


CASE = Case(
    "macroscope.statistics.columns:TEXT",
    (
        Setting("12 categories, 60 against 150", partial(draw, n=60, m=150), ("*",)),
        Setting("12 categories, 8 against 9", partial(draw, n=8, m=9), ("*",)),
        *(replace(setting, runs=200) for setting in SETTINGS if setting.name.startswith("5 categories, 200")),
    ),
    {"*": "with so few values few distances are possible, and the test is below its level"},
)
