"""Columns of latents: the settings of `cases.numbers`, under the name of the column."""

from dataclasses import replace
from functools import partial

import numpy as np

from ..setting import Case, Run, Setting
from .numbers import CONSERVATIVE, SETTINGS


def _simulate_column(rng: np.random.Generator, setting: Setting) -> Run:
    estimates, truth = setting.simulate(rng)
    renamed = [replace(estimate, statistic=f"x_{estimate.statistic}") for estimate in estimates]
    return renamed, {f"x_{name}": value for name, value in truth.items()}


CASE = Case(
    "macroscope.critics.numeric_latents:STATISTICS",
    tuple(replace(setting, simulate=partial(_simulate_column, setting=setting), runs=300) for setting in SETTINGS),
    CONSERVATIVE,
)
