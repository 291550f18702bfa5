"""What took the time: Snakemake's benchmarks and what the jobs' logs say in their last line, by rule."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.execution.resource_usage import usage_said

COLUMNS = ["jobs", "seconds", "longest", "cpu_seconds", "megabytes"]


def times_by_rule(logs: Path) -> pd.DataFrame:
    """Read the benchmarks of a run: `<logs>/<rule>.tsv` and all under `<logs>/<rule>/`, and the logs beside them.

    Jobs of earlier calls count, since their results are used; so do those of results that a changed config no longer
    asks for. Processor time and memory are those that a job's log names; where it names none (another program's job),
    what Snakemake saw when it last looked. Memory is the larger one: Snakemake's has a job's processes together.

    Parameters
    ----------
    logs
        `logs/<run>`.

    Returns
    -------
    data frame
        A row a rule, those that took longest first: `jobs`, `seconds` (wall clock, the jobs' sum), `longest` (seconds
        of the longest job), `cpu_seconds`, `megabytes` (the most resident memory that a job had, in 10⁶ bytes).
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


def render_times(times: pd.DataFrame, rows: int = 12) -> str:
    """Show the rules that took longest, the others together, and all, as lines of text; "" where there are none."""
    if times.empty:
        return ""
    shown, others = times.iloc[:rows], times.iloc[rows:]
    named = [(str(rule), row) for rule, row in shown.iterrows()]
    if len(others):
        named.append((f"{len(others)} other rules", _together(others)))
    named.append(("total", _together(times)))
    lines = [["", "jobs", "time", "longest", "CPU", "memory"], *(_cells(name, row) for name, row in named)]
    width = max(len(line[0]) for line in lines)
    table = (f"  {name:<{width}}" + "".join(f"{cell:>11}" for cell in cells) for name, *cells in lines)
    return "\n".join(["What took the time (h:mm:ss; jobs side by side count each):", *table])


def _cells(name: str, row: pd.Series) -> list[str]:
    memory = "–" if pd.isna(row["megabytes"]) else f"{row['megabytes']:,.0f} MB"
    return [
        name,
        f"{row['jobs']:.0f}",
        _clock(row["seconds"]),
        _clock(row["longest"]),
        _clock(row["cpu_seconds"]),
        memory,
    ]


def _rows(path: Path) -> Iterator[dict[str, float]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            seconds, cpu, memory = (_number(row.get(name)) for name in ("s", "cpu_time", "max_rss"))
            memory *= 2**20 / 1e6
            if (used := usage_said(path.with_suffix(".log"))) is not None:
                cpu, memory = used[0], float(np.fmax(used[1], memory))
            yield {"seconds": seconds, "cpu_seconds": cpu, "megabytes": memory}


def _number(text: str | None) -> float:
    """A cell of a benchmark; "NA" and what an older Snakemake does not write are NaN."""
    return float(text) if text and text != "NA" else float("nan")


def _together(times: pd.DataFrame) -> pd.Series:
    sums = times[["jobs", "seconds", "cpu_seconds"]].agg(_sum)
    return pd.concat([sums, times[["longest", "megabytes"]].max()])


def _sum(column: pd.Series) -> float:
    """Sum of what was measured; NaN where nothing was."""
    return column.sum(min_count=1)


def _clock(seconds: float) -> str:
    if pd.isna(seconds):
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
