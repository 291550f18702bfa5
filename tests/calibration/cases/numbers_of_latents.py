"""Columns of latents: what `cases.numbers` has, under the name of the column."""

from dataclasses import replace
from functools import partial

import numpy as np

from ..setting import Case, Drawn, Setting
from .numbers import CONSERVATIVE, SETTINGS


def _named(rng: np.random.Generator, setting: Setting) -> Drawn:
    rows, truth = setting.draw(rng)
    return [(f"x_{row[0]}", *row[1:]) for row in rows], {f"x_{name}": value for name, value in truth.items()}


CASE = Case(
    "macroscope.critics.numeric_latents:STATISTICS",
    tuple(replace(setting, draw=partial(_named, setting=setting), runs=300) for setting in SETTINGS),
    CONSERVATIVE,
)
