"""Fixtures that all tests share."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from macroscope.files import REPOSITORY

from .browser import chromium

REAL_TEXT = Path(os.environ.get("MACROSCOPE_REAL_TEXT", REPOSITORY.parent / "shared" / "data"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what pytest-xdist keeps together: the tests of a file, and all that edit the one finished run.

    Groups start in this order, the long ones first, so that no core waits at the end for one that began late.
    """
    for item in items:
        group = "run" if "run" in getattr(item, "fixturenames", ()) else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: "workflow" not in item.path.parts)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop where pytest-xdist keeps nothing together: the finished run would be made in every process."""
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("this pytest-xdist does not know groups under this pytest; take the locked versions")


@pytest.fixture
def real_text() -> Callable[[str], Path]:
    """Find a folder or file of real text; skip the test, naming it, where it is absent."""

    def find(name: str) -> Path:
        path = REAL_TEXT / name
        if not path.exists():
            pytest.skip(f"real text is not here: {path} (set MACROSCOPE_REAL_TEXT to the folder that has it)")
        return path

    return find


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    with chromium() as (kind, launch):
        running = kind.launch(**launch)
        yield running
        running.close()
