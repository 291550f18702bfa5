"""Calibration of every p-value and interval of the package; writes the pages of the docs: `make calibration`."""

import datetime as dt
import os
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from macroscope.files import write_text

from .page import render_pages
from .running import calibrate, list_missing, list_settings, promise_kind
from .store import key_of, list_outdated, read_rates, replace_rates, write_rates


def main(
    output: Annotated[
        Path,
        typer.Option(
            help="Page to write, with a folder of pages beside it; the table with the suffix .csv keeps the rates."
        ),
    ] = Path("docs/generated/calibration.md"),
    only: Annotated[str, typer.Option(help="Part of the names of the tuples of statistics to calibrate.")] = "",
    processes: Annotated[int, typer.Option(help="Number of processes.", min=1)] = len(os.sched_getaffinity(0)),
) -> None:
    """Simulate, evaluate and write; the exit status is 1 if a promise does not hold or has no simulation.

    Settings whose version was not raised since they were simulated are not repeated. Each is written when it is
    finished, so that a killed calibration goes on from there, on this machine or on another one.
    """
    store = output.with_suffix(".csv")
    table = read_rates(store)
    settings = list_outdated(table, list_settings(only))
    today = dt.datetime.now(dt.UTC).date().isoformat()
    for setting, rates in zip(settings, calibrate(settings, 1, processes), strict=True):
        table = replace_rates(table, key_of(setting), rates, today)
        write_rates(store, table)
        print(*key_of(setting), sep=": ", flush=True)
    (_, overview), *modules = render_pages(table).items()
    write_text(output, overview)
    for path, text in modules:
        write_text(output.parent / path, text)
    claims = [promise_kind(claim) for claim in table["claim"]]
    missing = [] if only else list_missing(list(zip(table["declared"], table["statistic"], claims, strict=True)))
    broken = table[table["verdict"] == "does not hold"]
    for line in missing:
        print(line)
    with pd.option_context("display.width", 200, "display.max_colwidth", 60):
        print(broken.to_string(index=False) if len(broken) else "every promise holds")
    sys.exit(bool(len(broken) or missing))


if __name__ == "__main__":
    typer.run(main)
