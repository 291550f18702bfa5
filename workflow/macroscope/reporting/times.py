"""Running times by rule, from Snakemake's benchmarks and the last line of the jobs' logs."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.execution.limits import usage_said

COLUMNS = ["jobs", "seconds", "longest", "cpu_seconds", "megabytes"]
_SHOWN = 12
"""Number of rules that the text names."""


def times_by_rule(logs: Path) -> pd.DataFrame:
    """Read the benchmarks of a run: `<logs>/<rule>.tsv`, all files below `<logs>/<rule>/`, and the logs beside them.

    Jobs of earlier calls count, because their results are used; so do jobs of results that the current config no longer
    needs. CPU time and memory are read from a job's log; if it has none (a job of another program), Snakemake's last
    measurement is used. Memory is the larger of the two, because Snakemake adds up the processes of a job.

    Parameters
    ----------
    logs
        Folder of the logs, `logs/<run>`.

    Returns
    -------
    data frame
        A row per rule, the longest-running first: `jobs`, `seconds` (wall clock, summed over jobs), `longest` (seconds
        of the longest job), `cpu_seconds`, `megabytes` (peak resident memory of a job, in 10⁶ bytes).
    """
    rows = [
        {"rule": path.relative_to(logs).parts[0].removesuffix(".tsv"), **row}
        for path in sorted(Path(logs).rglob("*.tsv"))
        for row in _rows(path)
    ]
    table = pd.DataFrame(rows, columns=["rule", "seconds", "cpu_seconds", "megabytes"])
    times = table.groupby("rule").agg(
        jobs=("seconds", "size"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        cpu_seconds=("cpu_seconds", _sum),
        megabytes=("megabytes", "max"),
    )
    return times.sort_values(["seconds", "jobs"], ascending=False, kind="stable")[COLUMNS]


def render_times(times: pd.DataFrame) -> str:
    """Render the longest-running rules, the sum of the others, and the total as text; "" without benchmarks."""
    if times.empty:
        return ""
    shown, others = times.iloc[:_SHOWN], times.iloc[_SHOWN:]
    named = [(str(rule), row) for rule, row in shown.iterrows()]
    if len(others):
        named.append((f"{len(others)} other rules", _total(others)))
    named.append(("total", _total(times)))
    lines = [["", "jobs", "time", "longest", "CPU", "memory"], *(_cells(name, row) for name, row in named)]
    width = max(len(line[0]) for line in lines)
    table = (f"  {name:<{width}}" + "".join(f"{cell:>11}" for cell in cells) for name, *cells in lines)
    return "\n".join(["Running times (h:mm:ss; parallel jobs are added up):", *table])


def _cells(name: str, row: pd.Series) -> list[str]:
    memory = "–" if pd.isna(row["megabytes"]) else f"{row['megabytes']:,.0f} MB"
    return [
        name,
        f"{row['jobs']:.0f}",
        _format_seconds(row["seconds"]),
        _format_seconds(row["longest"]),
        _format_seconds(row["cpu_seconds"]),
        memory,
    ]


def _rows(path: Path) -> Iterator[dict[str, float]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            seconds, cpu, memory = (_parse_number(row.get(name)) for name in ("s", "cpu_time", "max_rss"))
            memory *= 2**20 / 1e6
            if (usage := usage_said(path.with_suffix(".log"))) is not None:
                cpu, memory = usage[0], float(np.fmax(usage[1], memory))
            yield {"seconds": seconds, "cpu_seconds": cpu, "megabytes": memory}


def _parse_number(text: str | None) -> float:
    """Parse a cell of a benchmark; NaN for "NA" and for columns that older Snakemake versions lack."""
    return float(text) if text and text != "NA" else float("nan")


def _total(times: pd.DataFrame) -> pd.Series:
    sums = times[["jobs", "seconds", "cpu_seconds"]].agg(_sum)
    return pd.concat([sums, times[["longest", "megabytes"]].max()])


def _sum(column: pd.Series) -> float:
    """Return the sum of the measured values; NaN if there are none."""
    return column.sum(min_count=1)


def _format_seconds(seconds: float) -> str:
    if pd.isna(seconds):
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
