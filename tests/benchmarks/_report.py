"""The shared part of all benchmarks: timing, memory, and one line per result."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def seconds(function: Callable[[], object], repeats: int = 1) -> float:
    """Least wall-clock time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def processor_seconds(function: Callable[[], object]) -> float:
    """Processor time of a call and of the processes that it waits for: the same on a busy machine."""

    def used() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    start = used()
    function()
    return used() - start


def in_turns(*functions: Callable[[], object], turns: int = 3) -> list[float]:
    """Least wall-clock time of each function, called in turns: what else the machine does comes and goes."""
    rounds = [[seconds(function) for function in functions] for _ in range(turns)]
    return [min(times) for times in zip(*rounds, strict=True)]


def say(name: str, ours: str, reference: str, ratio: float, goal: str) -> None:
    """Print a result: a ratio above 1 is in our favour."""
    print(f"{name:34s} ours {ours:>16s}   reference {reference:>16s}   ratio {ratio:6.2f}   (goal {goal})", flush=True)


def peak_megabytes(function: Callable[..., object], *arguments: str | int | bool | Path) -> float:
    """Peak resident memory of a fresh interpreter that calls a benchmark's function, without its worker processes.

    From /proc: what `getrusage` says of a new process begins at the size of the process that started it.
    """
    script = Path(function.__code__.co_filename)
    lines = [
        f"import sys; from pathlib import {Path().__class__.__name__}; sys.path.insert(0, {str(script.parent)!r})",
        f"import {script.stem}; {script.stem}.{function.__name__}(*{arguments!r})",
        "print(open('/proc/self/status').read())",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], stdout=subprocess.PIPE, text=True, check=True)
    return int(re.findall(r"VmHWM:\s*(\d+) kB", done.stdout)[-1]) / 1024


@contextmanager
def quiet() -> Iterator[None]:
    """No log lines of macroscope inside."""
    import logging

    logger = logging.getLogger("macroscope")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
