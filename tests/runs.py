"""Runs to read in tests: their config and contents, as the workflow writes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macroscope.config.schema import parse_config
from macroscope.plan import Plan
from macroscope.runs.contents import WHOLE
from macroscope.runs.numbers import Key, Number
from macroscope.runs.results import Results, read_run


def describe_run(config: Mapping[str, Any], folder: Path) -> Results:
    """Write the config and the contents of a run into its folder, and return its results."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in Plan(parse_config(config)).descriptions().items():
        (folder / Path(path).name).write_text(text, encoding="utf-8")
    return read_run(folder)


def make_run(folder: Path, config: Mapping[str, Any], numbers: Mapping[Key, Number]) -> Results:
    """Return a finished run with these numbers, which needs no files."""
    run = Results(folder / WHOLE)
    vars(run).update(written_config=config, numbers=numbers, corpora={})
    return run
