"""Runs of settings, and their summaries: rejection rates, coverages, biases."""

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.stats import binom

from macroscope.errors import MacroscopeError
from macroscope.statistics.declaration import Statistic, match_declaration

from .promises import all_cases, declared_tuples
from .setting import MEAN, Case, Setting

LEVELS = (0.05, 0.01)
CONFIDENCE = 0.95
POWER = "power"
"""Claim that a test detects a difference."""
CERTAINTY = 0.999
"""Level of the binomial limits."""
FEWEST_RUNS = 3
"""Fewest runs of a setting: of fewer, no share is beyond the binomial limits."""
_CHUNK = 50


@dataclass(frozen=True)
class Job:
    """Range of runs of a setting."""

    case: int
    setting: int
    first: int
    last: int


def _seeds(job: Job) -> tuple[int, int]:
    """Return seeds of a setting, which stay when others are added."""
    case = all_cases()[job.case]
    return crc32(case.declared.encode()), crc32(case.settings[job.setting].name.encode())


def simulate_job(job: Job) -> pd.DataFrame:
    """Simulate runs: columns run, statistic, value, low, high, p, truth."""
    setting = all_cases()[job.case].settings[job.setting]
    rows = []
    for run in range(job.first, job.last):
        rng = np.random.default_rng([*_seeds(job), run])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimates, truths = setting.simulate(rng)
        rows += [(run, *astuple(estimate), truths.get(estimate.statistic, np.nan)) for estimate in estimates]
    return pd.DataFrame(rows, columns=["run", "statistic", "value", "low", "high", "p", "truth"])


def list_settings(only: str = "") -> list[tuple[int, int]]:
    """List the settings as (number of the case, number of the setting); see `calibrate`."""
    return [(c, s) for c, case in enumerate(all_cases()) if only in case.declared for s in range(len(case.settings))]


def calibrate(settings: Sequence[tuple[int, int]], scale: float, processes: int) -> Iterator[pd.DataFrame]:
    """Run settings, and yield the rates of each as soon as its runs are finished; see `evaluate`.

    Parameters
    ----------
    settings
        Numbers of cases and of their settings.
    scale
        Share of the runs of each setting, in (0, 1]; `FEWEST_RUNS` are made in any case.
    processes
        Number of processes.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(processes) as pool:
        waiting = []
        for c, s in settings:
            runs = max(FEWEST_RUNS, round(all_cases()[c].settings[s].runs * scale))
            jobs = [Job(c, s, first, min(first + _CHUNK, runs)) for first in range(0, runs, _CHUNK)]
            waiting.append([pool.submit(simulate_job, job) for job in jobs])
        for (c, s), futures in zip(settings, waiting, strict=True):
            case = all_cases()[c]
            simulated = pd.concat([future.result() for future in futures], ignore_index=True)
            yield evaluate(simulated, case, case.settings[s])


def evaluate(simulated: pd.DataFrame, case: Case, setting: Setting) -> pd.DataFrame:
    """Compute the rates of a setting: for every level of a test under its null, and for every interval.

    Returns
    -------
    data frame
        declared, setting, statistic, claim ("p <= 0.05", "power", "interval"), runs, rate, least, most (binomial
        limits), bias (mean value minus truth, in standard deviations of the value; of intervals), verdict ("holds",
        "conservative", "does not hold", or "known: " and the stated limit).
    """
    declarations = declared_tuples()[case.declared]
    rows = []
    for name, runs in simulated.groupby("statistic", sort=False):
        statistic = find_declared(declarations, str(name))
        if statistic is None:  # a statistic of another tuple, such as divergences among the rows of a critic
            continue
        if statistic.null and setting.is_null(str(name)) and runs["p"].notna().any():
            p = runs["p"].dropna()
            rows += [(name, f"p <= {level:g}", len(p), float((p <= level).mean()), level, np.nan) for level in LEVELS]
        least_power = setting.least_power(str(name))
        if statistic.null and least_power is not None:
            rows.append((name, POWER, len(runs), float((runs["p"] <= LEVELS[0]).mean()), least_power, np.nan))
        if statistic.holds and runs["low"].notna().any() and runs["truth"].notna().any():
            rows.append(_interval(str(name), runs))
    table = pd.DataFrame(rows, columns=["statistic", "claim", "runs", "rate", "nominal", "bias"])
    tail = (1 - CERTAINTY) / 2
    table["least"], table["most"] = (
        binom.ppf(level, table["runs"], table["nominal"]) / table["runs"] for level in (tail, 1 - tail)
    )
    table.insert(0, "setting", setting.name)
    table.insert(0, "declared", case.declared)
    table["verdict"] = [_verdict(row, case) for row in table.itertuples()]
    return table


def _interval(name: str, runs: pd.DataFrame) -> tuple[object, ...]:
    """Compute the coverage, over runs with an interval and a known truth."""
    truth = runs["value"].mean() if (runs["truth"] == MEAN).any() else runs["truth"].astype(float)
    runs = runs.assign(truth=truth).dropna(subset=["low", "high", "truth"])
    near = 1e-9 * np.abs(runs["truth"]).clip(lower=1e-3)
    held = (runs["low"] <= runs["truth"] + near) & (runs["truth"] <= runs["high"] + near)
    spread = float(runs["value"].std()) or np.nan
    bias = float((runs["value"] - runs["truth"]).mean() / spread) if len(runs) > 1 else np.nan
    return (name, "interval", len(runs), float(held.mean()) if len(runs) else np.nan, CONFIDENCE, bias)


def _verdict(row: Any, case: Case) -> str:
    statistic, rate, is_interval = row.statistic, row.rate, row.claim == "interval"
    if row.claim == POWER:
        return "does not hold" if rate < row.least else "holds"
    unsafe = rate < row.least if is_interval else rate > row.most
    wasteful = rate > row.most if is_interval else rate < row.least
    if unsafe:
        limit = case.limit(row.setting, statistic)
        return f"known: {limit}" if limit else "does not hold"
    if wasteful:
        # An interval that is too wide is still valid; a test that never rejects is useless.
        return "conservative" if is_interval or case.is_conservative(statistic) else "does not hold"
    return "holds"


def promise_kind(claim: str) -> str:
    """Return the kind of promise of a claim: "interval", "null" or "power"."""
    return claim if claim in ("interval", POWER) else "null"


def list_missing(simulated: Sequence[tuple[str, str, str]]) -> list[str]:
    """List promises that no setting simulates.

    Parameters
    ----------
    simulated
        (tuple, statistic, kind of `promise_kind`) of everything that is simulated.
    """
    messages = []
    for place, statistics in declared_tuples().items():
        covered = {(name, claim) for tuple_, name, claim in simulated if tuple_ == place}
        for statistic in statistics:
            for claim, promised in (("null", statistic.null), ("interval", statistic.holds)):
                if promised and not any(c == claim and find_declared(statistics, n) == statistic for n, c in covered):
                    messages.append(f"{place}: '{statistic.pattern}' has no {claim} in tests/calibration")
    return messages


def find_declared(statistics: tuple[Statistic, ...], name: str) -> Statistic | None:
    """Return the declaration of a statistic in a tuple; None if the tuple does not have it."""
    try:
        return match_declaration(statistics, name)
    except MacroscopeError:
        return None
