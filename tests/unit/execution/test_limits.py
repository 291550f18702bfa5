"""Limits of one machine: its memory, or that of the container; a GPU where there is one."""

import psutil
import pytest

from macroscope.execution import limits


def test_a_container_may_have_less_memory_than_the_machine(tmp_path, monkeypatch):
    whole = psutil.virtual_memory().total
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(limits, "_CGROUP_LIMITS", (limit,))
    for text, memory in (("max", whole), ("1000000000", 1e9), (str(2 * whole), whole)):
        limit.write_text(text + "\n")
        assert limits.limits()["mem_mb"] == int(0.9 * memory / 1e6)


@pytest.mark.parametrize(("visible", "gpus"), [("", 0), ("-1", 0), ("0", 1), ("2,3", 1)])
def test_gpus_that_are_hidden_are_none(visible, gpus, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert limits.limits()["gpu"] == gpus


def test_what_the_environment_says_of_waiting_threads_stays(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    assert limits.waiting() == {"GOMP_SPINCOUNT": "10000"}
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert limits.waiting() == {}
