"""Processor time and memory of a process, counted by itself and written as the last line of its log.

Snakemake's benchmark samples both every 30 s: it misses peaks between two samples, and half the processor time of a job
of 40 s.
"""

import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

_LINE = "used {seconds:.2f} s of the processor, at most {megabytes:.1f} MB of memory"
_SAID = re.compile(r"used ([\d.]+) s of the processor, at most ([\d.]+) MB of memory")


def say_usage(log: Path) -> None:
    """Append to a log the usage of this process and its ended children so far.

    A log that cannot be written, as on a full disk, does not fail a job that has done its work.
    """
    with suppress(OSError), log.open("a", encoding="utf-8") as file:
        file.write(_LINE.format(seconds=_processor_seconds(), megabytes=_peak_megabytes()) + "\n")


def usage_said(log: Path) -> tuple[float, float] | None:
    """Return processor seconds and peak megabytes from the last line of a log; None if it does not have them."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None
    said = _SAID.fullmatch(lines[-1]) if lines else None
    return (float(said[1]), float(said[2])) if said else None


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _peak_megabytes() -> float:
    """Return the peak resident memory of this process in units of 10⁶ bytes, without its children.

    On Linux it comes from /proc: `getrusage` of a new process starts at the size of the process that started it.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) * 1024 / 1e6
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
