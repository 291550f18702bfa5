"""Runs of settings, and what they come to: rates of rejection, coverages, biases."""

import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from macroscope.errors import MacroscopeError
from macroscope.statistics.declaration import Statistic, declared

from .promises import all_cases, declared_tuples
from .setting import MEAN, Case, Setting

LEVELS = (0.05, 0.01)
CONFIDENCE = 0.95
POWER = "power"
"""Claim that a test finds what it must."""
CERTAINTY = 0.999
"""Of the binomial limits."""
_CHUNK = 50


@dataclass(frozen=True)
class Job:
    """Some runs of a setting."""

    case: int
    setting: int
    first: int
    last: int


def simulate(job: Job) -> pd.DataFrame:
    """Columns run, statistic, value, low, high, p, truth."""
    case = all_cases()[job.case]
    setting = case.settings[job.setting]
    rows = []
    for run in range(job.first, job.last):
        rng = np.random.default_rng([job.case, job.setting, run])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, truths = setting.draw(rng)
        rows += [(run, *row, truths.get(row[0], np.nan)) for row in found]
    return pd.DataFrame(rows, columns=["run", "statistic", "value", "low", "high", "p", "truth"])


def calibrate(scale: float, processes: int, only: str = "") -> pd.DataFrame:
    """Run all settings, or those of the cases whose tuple's name contains `only`; a row a setting, statistic and claim.

    Parameters
    ----------
    scale
        Share of the runs of each setting, in (0, 1].
    """
    tables = []
    jobs = [
        (c, s, max(1, round(setting.runs * scale)))
        for c, case in enumerate(all_cases())
        if only in case.declared
        for s, setting in enumerate(case.settings)
    ]
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(processes) as pool:
        waiting = [
            (c, s, [pool.submit(simulate, Job(c, s, k, min(k + _CHUNK, runs))) for k in range(0, runs, _CHUNK)])
            for c, s, runs in jobs
        ]
        for c, s, parts in waiting:
            case = all_cases()[c]
            drawn = pd.concat([part.result() for part in parts], ignore_index=True)
            tables.append(judge(drawn, case, case.settings[s]))
    return pd.concat(tables, ignore_index=True)


def judge(drawn: pd.DataFrame, case: Case, setting: Setting) -> pd.DataFrame:
    """Rates of a setting: for every level of a test under its null, and for every interval.

    Returns
    -------
    data frame
        declared, setting, statistic, claim ("p <= 0.05", "power", "interval"), runs, rate, least, most (binomial
        limits), bias (mean value minus truth, in standard deviations of the value; of intervals), verdict ("holds",
        "conservative", "does not hold", or "known: " and what is said of it).
    """
    known = declared_tuples()[case.declared]
    rows = []
    for name, some in drawn.groupby("statistic", sort=False):
        statistic = first(known, str(name))
        if statistic is None:  # another tuple's, such as divergences among the rows of a critic
            continue
        if statistic.null and setting.is_null(str(name)) and some["p"].notna().any():
            p = some["p"].dropna()
            rows += [(name, f"p <= {level:g}", len(p), float((p <= level).mean()), level, np.nan) for level in LEVELS]
        least_power = setting.least_power(str(name))
        if statistic.null and least_power is not None:
            rows.append((name, POWER, len(some), float((some["p"] <= LEVELS[0]).mean()), least_power, np.nan))
        if statistic.holds and some["low"].notna().any() and some["truth"].notna().any():
            rows.append(_interval(str(name), some))
    table = pd.DataFrame(rows, columns=["statistic", "claim", "runs", "rate", "nominal", "bias"])
    tail = (1 - CERTAINTY) / 2
    table["least"], table["most"] = (
        binom.ppf(level, table["runs"], table["nominal"]) / table["runs"] for level in (tail, 1 - tail)
    )
    table.insert(0, "setting", setting.name)
    table.insert(0, "declared", case.declared)
    table["verdict"] = [_verdict(row, case) for row in table.itertuples()]
    return table


def _interval(name: str, some: pd.DataFrame) -> tuple[object, ...]:
    """Coverage; a run without an interval does not count, nor one whose truth is not known."""
    truth = some["value"].mean() if (some["truth"] == MEAN).any() else some["truth"].astype(float)
    some = some.assign(truth=truth).dropna(subset=["low", "high", "truth"])
    near = 1e-9 * np.abs(some["truth"]).clip(lower=1e-3)
    held = (some["low"] <= some["truth"] + near) & (some["truth"] <= some["high"] + near)
    spread = float(some["value"].std()) or np.nan
    bias = float((some["value"] - some["truth"]).mean() / spread) if len(some) > 1 else np.nan
    return (name, "interval", len(some), float(held.mean()) if len(some) else np.nan, CONFIDENCE, bias)


def _verdict(row: Any, case: Case) -> str:
    statistic, rate, is_interval = row.statistic, row.rate, row.claim == "interval"
    if row.claim == POWER:
        return "does not hold" if rate < row.least else "holds"
    unsafe = rate < row.least if is_interval else rate > row.most
    wasteful = rate > row.most if is_interval else rate < row.least
    if unsafe:
        said = case.limit(row.setting, statistic)
        return f"known: {said}" if said else "does not hold"
    if wasteful:
        # An interval that is too wide says no more than it knows; a test that never rejects says nothing at all.
        return "conservative" if is_interval or case.is_conservative(statistic) else "does not hold"
    return "holds"


def promise_of(claim: str) -> str:
    """What a claim is about: an "interval", a "null", or "power"."""
    return claim if claim in ("interval", POWER) else "null"


def missing(drawn: Sequence[tuple[str, str, str]]) -> list[str]:
    """Promises that no setting looks at.

    Parameters
    ----------
    drawn
        (tuple, statistic, what `promise_of` says) of everything that is looked at.
    """
    found = []
    for where, statistics in declared_tuples().items():
        looked_at = {(name, claim) for tuple_, name, claim in drawn if tuple_ == where}
        for statistic in statistics:
            for claim, promised in (("null", statistic.null), ("interval", statistic.holds)):
                if promised and not any(c == claim and first(statistics, n) == statistic for n, c in looked_at):
                    found.append(f"{where}: '{statistic.pattern}' has no {claim} in tests/calibration")
    return found


def first(statistics: tuple[Statistic, ...], name: str) -> Statistic | None:
    """Declaration of a statistic in a tuple; None where it is not in there."""
    try:
        return declared(statistics, name)
    except MacroscopeError:
        return None
