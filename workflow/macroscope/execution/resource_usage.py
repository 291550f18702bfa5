"""What a process used, as the last line of its log: its own count, where Snakemake's benchmark looks every 30 s.

A benchmark knows the time of a job's start and end, but of its processor time and memory only what they were when it
last looked: nothing of a peak between two looks, and of a job of 40 s half the processor time.
"""

import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

_LINE = "used {seconds:.2f} s of the processor, at most {megabytes:.1f} MB of memory"
_SAID = re.compile(r"used ([\d.]+) s of the processor, at most ([\d.]+) MB of memory")


def say_usage(log: Path) -> None:
    """Append to a log what this process and its ended children have used so far.

    A log that cannot be written, as on a full disk, fails no job that has done its work: it does not say, then.
    """
    with suppress(OSError), log.open("a", encoding="utf-8") as file:
        file.write(_LINE.format(seconds=_processor_seconds(), megabytes=_peak_megabytes()) + "\n")


def usage_said(log: Path) -> tuple[float, float] | None:
    """Seconds of the processor and megabytes at most, from the last line of a log; None where it does not say."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None
    said = _SAID.fullmatch(lines[-1]) if lines else None
    return (float(said[1]), float(said[2])) if said else None


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_megabytes() -> float:
    """Peak resident memory of this process, in units of 10⁶ bytes, its children not included.

    On Linux from /proc: what `getrusage` says of a new process begins at the size of the process that started it.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) * 1024 / 1e6
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
