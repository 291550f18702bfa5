"""What this machine has for jobs that run on it: the limits that Snakemake keeps them under, how their threads wait."""

import os
from pathlib import Path

import psutil

_SHARE = 0.9
"""Of the memory: the rest is for the system, and for what else is open."""
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def limits() -> dict[str, int]:
    """Resources that all jobs together may have, by Snakemake's names.

    Returns
    -------
    dict
        mem_mb: most of the memory, that of the container where it has less; gpu: 1 where there is a GPU. Jobs that run
        beside each other would all take the first GPU, so that more of them are for who gives their number
        (`--resources gpu=4`), to train one model on all.
    """
    return {"mem_mb": int(_SHARE * _bytes_of_memory() / 1e6), "gpu": int(_has_gpu())}


def waiting() -> dict[str, str]:
    """Variables for the jobs: threads that wait for each other soon let another program have the core.

    The threads of GNU OpenMP, PyTorch's, wait by turning in circles, and by default hardly stop. Where another program
    keeps one of two cores busy, an encoder read 12 batches a second so, and 20 with 10,000 turns; alone 44 in either
    case. What the environment says of it already stays.
    """
    said = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys()
    return {} if said else {"GOMP_SPINCOUNT": "10000"}


def _bytes_of_memory() -> int:
    whole = int(psutil.virtual_memory().total)
    contained = [path.read_text().strip() for path in _CGROUP_LIMITS if path.exists()]
    return min([whole, *(int(limit) for limit in contained if limit.isdigit())])


def _has_gpu() -> bool:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return visible.strip() not in ("", "-1")
    return any(path.name.removeprefix("nvidia").isdigit() for path in Path("/dev").glob("nvidia*"))
