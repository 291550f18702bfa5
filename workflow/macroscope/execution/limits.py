"""Limits of this machine for the jobs that run on it: memory, GPUs, and how threads wait."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
