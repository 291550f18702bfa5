"""Calibration of every p-value and interval of the package; writes the page of the docs: `make calibration`."""

import os
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from macroscope.files import write_text

from .page import render_page
from .running import calibrate, list_missing, promise_kind


def main(
    output: Annotated[Path, typer.Option(help="Page to write.")] = Path("docs/generated/calibration.md"),
    scale: Annotated[float, typer.Option(help="Share of the runs of each setting.", min=0.001, max=1)] = 1.0,
    only: Annotated[
        str, typer.Option(help="Part of the names of the tuples of statistics to calibrate; no page.")
    ] = "",
    processes: Annotated[int, typer.Option(help="Number of processes.", min=1)] = len(os.sched_getaffinity(0)),
) -> None:
    """Simulate, evaluate and write; the exit status is 1 if a promise does not hold or has no simulation.

    Finished runs are kept in build/calibration: a killed calibration goes on from there, and a later one repeats those
    alone whose code has changed.
    """
    table = calibrate(scale, processes, only, Path("build/calibration"))
    claims = [promise_kind(claim) for claim in table["claim"]]
    missing = [] if only else list_missing(list(zip(table["declared"], table["statistic"], claims, strict=True)))
    broken = table[table["verdict"] == "does not hold"]
    if not only:
        write_text(output, render_page(table, scale))
    else:
        print(table.drop(columns="declared").to_string(index=False, float_format="{:.3f}".format))
    for line in missing:
        print(line)
    with pd.option_context("display.width", 200, "display.max_colwidth", 60):
        print(broken.drop(columns="nominal").to_string(index=False) if len(broken) else "every promise holds")
    sys.exit(bool(len(broken) or missing))


if __name__ == "__main__":
    typer.run(main)
