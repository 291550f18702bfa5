"""Limits of this machine for jobs: memory, GPUs, how threads wait; and the processor time and memory that a job used.

A process counts its usage by itself, and writes it as the last line of its log. Snakemake's benchmark samples every
30 s: it misses peaks between two samples, and half the processor time of a job of 40 s.
"""

import os
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psutil

from macroscope.errors import UsageError

Device = Literal["auto", "cpu", "cuda"]
"""Device of models: cuda is a GPU; auto is a GPU if there is one."""
_VISIBLE = "CUDA_VISIBLE_DEVICES"

_SHARE = 0.9
"""Share of the memory for jobs; the rest is for the system and for other programs."""
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def limits() -> dict[str, int]:
    """Return the resources that all jobs together may use, by Snakemake's names.

    Returns
    -------
    dict
        mem_mb: most of the memory, or of the container's if that is less; gpu: 1 if there is a GPU. Concurrent jobs
        would all take the first GPU, so more than one is used only if the user gives their number
        (`--resources gpu=4`), to train one model on all.
    """
    return {"mem_mb": int(_SHARE * _bytes_of_memory() / 1e6), "gpu": int(_has_gpu())}


@contextmanager
def device_for_jobs(device: Device) -> Iterator[None]:
    """Hide the GPUs, on the device `cpu`, from the processes that start within this context."""
    if device != "cpu":
        yield
        return
    before = os.environ.pop(_VISIBLE, None)
    os.environ[_VISIBLE] = ""
    try:
        yield
    finally:
        del os.environ[_VISIBLE]
        os.environ |= {} if before is None else {_VISIBLE: before}


def require_device(device: Device) -> None:
    """Check that PyTorch can use a GPU, if the device is one.

    Raises
    ------
    UsageError
        If it cannot.
    """
    if device != "cuda":
        return
    if _has_gpu():
        import torch  # imported late: it takes seconds

        if torch.cuda.is_available():
            return
    raise UsageError("the device 'cuda': PyTorch finds no GPU on this machine; give 'auto' or 'cpu'")


def waiting() -> dict[str, str]:
    """Return environment variables for the jobs: threads that wait for each other soon yield the core.

    The threads of GNU OpenMP, which PyTorch uses, busy-wait almost without end by default. If another program keeps
    one of two cores busy, an encoder then read 12 batches per second, and 20 with 10,000 spins; alone, it read 44 in
    either case. Settings of the environment stay.
    """
    is_set = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys()
    return {} if is_set else {"GOMP_SPINCOUNT": "10000"}


def _bytes_of_memory() -> int:
    whole = int(psutil.virtual_memory().total)
    contained = [path.read_text().strip() for path in _CGROUP_LIMITS if path.exists()]
    return min([whole, *(int(limit) for limit in contained if limit.isdigit())])


def _has_gpu() -> bool:
    visible = os.environ.get(_VISIBLE)
    if visible is not None:
        return visible.strip() not in ("", "-1")
    return any(path.name.removeprefix("nvidia").isdigit() for path in Path("/dev").glob("nvidia*"))


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
