"""Courses of simulated texts: prompts and texts differ in level and slope, and short texts have noisier tenths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.document_keys import number_sample
from macroscope.options import Resampling
from macroscope.statistics.courses import (
    BEGINNING,
    COURSE,
    TENTHS,
    Courses,
    change_name,
    compare_courses,
    estimate_curves,
    tenth_name,
)
from macroscope.statistics.tidy import Estimate

from ..setting import Case, Run, Setting

Array = NDArray[np.float64]
MEASURES = ("first", "second")
PLACES = np.linspace(0, 1, TENTHS)
TRUTH = np.stack([3 + PLACES, 2 - PLACES])
"""Mean of each measure in each tenth, of real texts."""
LATE = 0.6 * np.clip(PLACES - 0.5, 0, None) / 0.5
"""A difference that begins in the sixth tenth."""
ALL = {tenth_name("all", 1): "curves", change_name("all", 1): "changes"}
"""Names of intervals that hold 0 if, and only if, all bands of a collection hold their truths."""


@dataclass(frozen=True)
class Side:
    """A collection: texts of each prompt (at most), spread and shift of the curves, and name of its prompts."""

    prompts: int
    most_texts: int = 1
    spread: float = 1.0
    shift: float | Sequence[float] = 0.0
    named: str = "prompt"
    is_skewed: bool = False

    @property
    def truth(self) -> Array:
        return TRUTH + np.asarray(self.shift)

    def sample(self, rng: np.random.Generator, effects: Array) -> Courses:
        """Sample the texts; `effects` are the levels and slopes of prompts."""
        texts = rng.integers(1, self.most_texts + 1, self.prompts)
        prompts = np.repeat(np.arange(self.prompts), texts)
        of_texts = 0.4 * rng.normal(size=(len(prompts), len(MEASURES), 2))
        level, slope = np.moveaxis(effects[prompts] + of_texts, -1, 0)[..., np.newaxis]
        lengths = np.exp(rng.normal(5.5, 0.7, (len(prompts), 1, 1)))
        noise = rng.normal(size=(len(prompts), len(MEASURES), TENTHS)) * np.sqrt(150 / lengths)
        deviations = self.spread * (level + slope * (PLACES - 0.3) + noise)
        if self.is_skewed:
            variance = 2 * 0.4**2 * (1 + (PLACES - 0.3) ** 2) + 150 / lengths
            curves = self.truth * np.exp((deviations - variance / 4) / 2)  # the mean is the truth
        else:
            curves = self.truth + deviations
        numbers = [number_sample(f"{self.named} {p}", n) for p, n in zip(prompts, _numbers(prompts), strict=True)]
        return Courses(pd.DataFrame({"id": numbers}), curves)


def _numbers(prompts: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.flatnonzero(np.diff(prompts, prepend=-1))
    return np.arange(len(prompts)) - np.repeat(starts, np.diff(starts, append=len(prompts))) + 1


def simulate(rng: np.random.Generator, real: Side, system: Side) -> Run:
    """Compare two collections; those with the same names of prompts share their effects."""
    most = max(real.prompts, system.prompts)
    effects = [0.4 * rng.normal(size=(most, len(MEASURES), 2)) for _ in range(2)]
    reference = real.sample(rng, effects[0])
    candidate = system.sample(rng, effects[0 if real.named == system.named else 1])
    resampling = Resampling(499, 499, 0.95, int(rng.integers(1 << 31)))
    means = estimate_curves(candidate, MEASURES, resampling)
    *changes, test = compare_courses(reference, candidate, MEASURES, resampling)
    difference = system.truth - real.truth
    true_changes = difference[:, BEGINNING:] - difference[:, :BEGINNING].mean(axis=1, keepdims=True)
    bands = [
        _joint(name, rows, truth.ravel())
        for name, rows, truth in zip(ALL, (means, changes), (system.truth, true_changes), strict=True)
    ]
    smallest = Estimate(change_name("any", 1), 0.0, p_value=min(each.p_value for each in changes))
    return [*bands, smallest, test], dict.fromkeys(ALL, 0.0)


def _joint(name: str, estimates: Sequence[Estimate], truth: Array) -> Estimate:
    low = max(each.ci_low - true for each, true in zip(estimates, truth, strict=True))
    high = min(each.ci_high - true for each, true in zip(estimates, truth, strict=True))
    return Estimate(name, 0.0, low, high)


def _setting(name: str, real: Side, system: Side, power: Mapping[str, float] | None = None) -> Setting:
    null = () if power else (COURSE, "course_any_change_*")
    return Setting(name, partial(simulate, real=real, system=system), null, power or {})


OTHER = "other prompt"
CASE = Case(
    "macroscope.statistics.courses:STATISTICS",
    (
        _setting("100 and 100 texts of unequal lengths", Side(100), Side(100, named=OTHER)),
        _setting("30 and 200 texts, skewed", Side(200, is_skewed=True), Side(30, named=OTHER, is_skewed=True)),
        _setting("40 prompts of 1 to 6 texts, 150 real texts", Side(150), Side(40, 6, named=OTHER)),
        _setting("50 shared prompts, 1 to 5 texts each", Side(50), Side(50, 5)),
        _setting("equal means, twice the spread, 40 and 120 texts", Side(120), Side(40, spread=2.0, named=OTHER)),
        _setting("another level everywhere, 80 and 80 texts", Side(80), Side(80, shift=1.0, named=OTHER)),
        _setting("10 and 10 texts", Side(10), Side(10, named=OTHER)),
        _setting(
            "difference from the sixth tenth, 100 and 100 texts",
            Side(100),
            Side(100, shift=LATE, named=OTHER),
            {COURSE: 0.8},
        ),
        _setting(
            "difference from the sixth tenth, 60 shared prompts", Side(60), Side(60, 5, shift=LATE), {COURSE: 0.8}
        ),
    ),
    conservative={"course_*_tenth_*": "few or skewed texts: errors of resamples vary more than those of samples"},
)
