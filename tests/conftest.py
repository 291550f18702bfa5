"""Fixtures that all tests share."""

import gc
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from macroscope import cli
from macroscope.files import REPOSITORY

from .browser import chromium
from .imports import imported_packages

# Until all tests are read, collections of garbage find none: they take a sixth of the time of quick tests.
gc.disable()

REAL_TEXT = Path(os.environ.get("MACROSCOPE_REAL_TEXT", REPOSITORY.parent / "shared" / "data"))

# Tests never assert a time, and neither does Hypothesis on a busy machine.
SKIPPED_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("untimed", deadline=None, suppress_health_check=SKIPPED_CHECKS)
settings.load_profile("untimed")

HEAVY_PACKAGES = (
    r"torch|transformers|subprocess|multiprocessing|playwright|tests\.browser|snakemake|http\.server|socketserver"
)
_IMPORTS = r"^\s*(?:import|from) |importorskip\(\""
HEAVY = re.compile(rf"(?:{_IMPORTS})(?:{HEAVY_PACKAGES})\b|\b(?:write_encoder|tiny_model)\(", re.MULTILINE)
"""Tests that `--quick` leaves out: those that need torch, a process, a browser, a workflow or a server."""
MODEL_PACKAGES = {"torch", "transformers"}
"""Packages that take seconds to import: no module that `--quick` reads may import them, however indirectly."""
HEAVY_FIXTURES = {"browser", "run"}
SLOW = 0.3
"""Seconds of the processor that a test of `--quick` may take. Those of the wall clock depend on other processes."""
SECONDS = "processor_seconds"


@pytest.fixture(autouse=True)
def close_figures() -> Generator[None]:
    """Close the figures that a test leaves open: Matplotlib warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose tests by what they take."""
    parser.addoption("--quick", action="store_true", help="only tests without workflow, browser, torch or process")
    parser.addoption("--all-runs", action="store_true", help="only simulations, with all their runs")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick`, leave out other tests than unit tests, and modules that import anything heavy, unread."""
    if not config.getoption("quick") or collection_path.suffix != ".py":
        return None
    is_unit = (REPOSITORY / "tests" / "unit") in collection_path.parents
    is_quick = is_unit and not HEAVY.search(collection_path.read_text(encoding="utf-8"))
    return None if is_quick and not imported_packages(collection_path) & MODEL_PACKAGES else True


def _is_quick(item: pytest.Item) -> bool:
    is_light = not HEAVY_FIXTURES & {*item.fixturenames} and item.get_closest_marker("slow") is None
    return is_light and _needs_few_runs(item)


def _has_runs(item: pytest.Item) -> bool:
    return "runs_of" in getattr(item, "fixturenames", ())


def _needs_few_runs(item: pytest.Item) -> bool:
    return item.get_closest_marker("all_runs") is None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say what pytest-xdist keeps together: the tests of a file, and all that edit the one finished run.

    Groups start in this order, the long ones first, so that no core waits at the end for one that began late.
    """
    quick, all_runs = config.getoption("quick"), config.getoption("all_runs")
    is_chosen = _is_quick if quick else _has_runs if all_runs else _needs_few_runs
    chosen = [item for item in items if is_chosen(item)]
    config.hook.pytest_deselected(items=[item for item in items if not is_chosen(item)])
    items[:] = chosen
    for item in items:
        group = "run" if "run" in getattr(item, "fixturenames", ()) else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: "workflow" not in item.path.parts)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop if quick tests import models, or if pytest-xdist would make the finished run in every process."""
    gc.freeze()
    gc.enable()
    if session.config.getoption("quick") and (models := MODEL_PACKAGES & sys.modules.keys()):
        raise pytest.UsageError(f"quick tests import {', '.join(sorted(models))}: leave out the test that does")
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("this pytest-xdist does not know groups under this pytest; take the locked versions")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Record the processor time of a test."""
    began = time.process_time()
    try:
        yield
    finally:
        item.user_properties.append((SECONDS, time.process_time() - began))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """With `--quick`, name the tests that take too long for it; the first of each process also pays for imports."""
    if not config.getoption("quick"):
        return
    reports = [report for report in terminalreporter.stats.get("passed", []) if report.when == "call"]
    seconds = {report.nodeid: dict(report.user_properties)[SECONDS] for report in reports}
    for name in sorted(filter(lambda name: seconds[name] > SLOW, seconds), key=lambda name: -seconds[name]):
        terminalreporter.write_line(f"{seconds[name]:.1f} s of the processor: mark as slow, or make cheaper: {name}")


@pytest.fixture(scope="session")
def runs_of(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Return the number of runs of a simulation: all in `make calibration`, a quarter in `make test`."""
    return lambda runs: runs if request.config.getoption("all_runs") else runs // 4


@pytest.fixture
def real_text() -> Callable[[str], Path]:
    """Find a folder or file of real text; skip the test, naming it, where it is absent."""

    def find(name: str) -> Path:
        path = REAL_TEXT / name
        if not path.exists():
            pytest.skip(f"real text is not here: {path} (set MACROSCOPE_REAL_TEXT to the folder that has it)")
        return path

    return find


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs `macroscope` with arguments, and returns its exit status and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["macroscope", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        return done.value.code, capsys.readouterr().err

    yield call
    logger = logging.getLogger("macroscope")
    for handler in logger.handlers:
        handler.close()
    logger.handlers = []


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    with chromium() as (kind, launch):
        running = kind.launch(**launch)
        yield running
        running.close()
