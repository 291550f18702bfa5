"""Plug-in packages for tests: installed in a folder of their own for the time of a test."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from macroscope import critics as room
from macroscope.critics.declaration import Critic
from macroscope.registry import discover

CRITIC = """
from macroscope.critics.declaration import Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="work:TheirOptions",
    latents="work:LATENTS",
    observes="how long a text is",
    statistics=("macroscope.critics.numeric_latents:STATISTICS",),
    stages={
        "project": Stage("work:project", inputs="texts signature", options="size"),
        "compare": Stage("work:compare", inputs="control_latents latents resampling"),
        "report": Stage("work:items"),
    },
)
"""
WORK = """
import pandas as pd
import pyarrow as pa

from macroscope.critics.latents import key_columns, latents_schema, write_latents
from macroscope.options import Options

LATENTS = latents_schema(pa.field("length", pa.float64()))


class TheirOptions(Options):
    size: int = 1


def project(texts, options, signature, output):
    documents = list(texts)
    lengths = pa.array([float(len(document.text)) for document in documents])
    write_latents(output, LATENTS, [pa.table([*key_columns(documents), lengths], schema=LATENTS)], signature)


def compare(control_latents, latents, resampling):
    row = {"statistic": "length_mean", "value": 1.0, "ci_low": 0.0, "ci_high": 2.0, "p_value": 0.5}
    return pd.DataFrame([row | {"n_reference": 3, "n_candidate": 3}])


def items(findings):
    return []
"""


def write_package(folder: Path, module: str = CRITIC, work: str = WORK) -> None:
    """Write the distribution `their-critics` with the package `theirs` into a folder for Python's path."""
    info, package = folder / "their_critics-1.dist-info", folder / "theirs"
    for made in (info, package / "captions"):
        made.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-critics\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[macroscope.critics]\ntheirs = theirs\n")
    (package / "__init__.py").write_text(module)
    (package / "work.py").write_text(work)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str = CRITIC, work: str = WORK) -> None:
    """Install the distribution of `write_package` for the time of a test."""
    write_package(folder, module, work)
    monkeypatch.syspath_prepend(folder)
    for name in ("theirs", "theirs.work"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # removed at the end of the test
        del sys.modules[name]
    monkeypatch.setattr(room, "critics", lambda: discover("macroscope.critics", "CRITIC", Critic, room.GROUP))
