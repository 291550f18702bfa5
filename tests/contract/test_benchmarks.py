"""Benchmarks run seldom, and by hand: every name that they import still exists."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_benchmark_can_be_imported(script, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import_module(script)
