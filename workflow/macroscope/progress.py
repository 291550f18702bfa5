"""Progress of long stages: a bar on a terminal, a log line every so often elsewhere."""

import logging
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tqdm import tqdm

from macroscope.errors import escape_controls

log = logging.getLogger("macroscope")
T = TypeVar("T")

LINE_EVERY_SECONDS = 15.0
SILENT_SECONDS = 3.0
"""Time in which a task shows nothing; one that ends earlier leaves no line."""
_PLURAL = re.compile(r"(?<=ch)es$|s$")
"""End of the plural of a unit: texts, batches."""


def progress(items: Iterable[T], description: str, total: int | None = None, unit: str = "it") -> Iterator[T]:
    """Iterate over `items` and show the progress."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    with Progress(description, total, unit) as bar:
        for item in items:
            yield item
            bar.advance(1)


@contextmanager
def without_progress() -> Iterator[None]:
    """Show no progress within this context."""
    Progress._running += 1
    try:
        yield
    finally:
        Progress._running -= 1


class PacedLog:
    """A log of a loop's lines: one every so often is for the terminal (INFO), the others are for log files (DEBUG)."""

    def __init__(self) -> None:
        self._next_line = time.monotonic() + SILENT_SECONDS

    def line(self, message: str, *values: object) -> None:
        """Log a line."""
        is_due = time.monotonic() >= self._next_line
        if is_due:
            self._next_line = time.monotonic() + LINE_EVERY_SECONDS
        log.log(logging.INFO if is_due else logging.DEBUG, message, *values)


class Progress:
    """A counter of finished units that shows itself; use as a context manager.

    Within another one it is silent: the outer one shows the progress of the whole.

    Parameters
    ----------
    description
        Name of the task, as a phrase ("extract pages").
    total
        Number of units, if known.
    unit
        Name of one unit.
    """

    def __init__(self, description: str, total: int | None = None, unit: str = "it") -> None:
        self.description, self.total, self.unit, self.count = description, total, unit, 0

    _running = 0
    """Number of counters that are in use."""

    def __enter__(self) -> "Progress":
        self._start = time.monotonic()
        self._next_line = self._start + SILENT_SECONDS
        self._is_shown = Progress._running == 0
        Progress._running += 1
        terminal = sys.stderr.isatty() and self._is_shown
        # The command line's own stream escapes what moves the cursor.
        options: dict[str, Any] = {"desc": escape_controls(self.description), "unit": self.unit, "file": sys.__stderr__}
        options["delay"] = SILENT_SECONDS
        self._bar = tqdm(total=self.total, leave=False, disable=False, **options) if terminal else None
        return self

    def __exit__(self, *exception: object) -> None:
        Progress._running -= 1
        if self._bar is not None:
            self._bar.close()
        if time.monotonic() - self._start >= SILENT_SECONDS:
            self._log()

    def advance(self, units: int) -> None:
        """Count `units` more as done."""
        self.count += units
        if self._bar is not None:
            self._bar.update(units)
        elif time.monotonic() > self._next_line:
            self._log()

    def _log(self) -> None:
        if not self._is_shown:
            return
        elapsed = time.monotonic() - self._start
        self._next_line = self._start + elapsed + LINE_EVERY_SECONDS
        of_total = f" of {self.total:,}" if self.total is not None else ""
        rate = self.count / elapsed if elapsed > 0 else 0.0
        unit = _PLURAL.sub("", self.unit) if (self.total or self.count) == 1 else self.unit
        log.info("%s: %s%s %s, %.0f s, %.1f/s", self.description, f"{self.count:,}", of_total, unit, elapsed, rate)
