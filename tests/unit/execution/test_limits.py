"""Limits of one machine: its memory, or that of the container; a GPU where there is one."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from macroscope.execution import limits
from macroscope.execution.limits import say_usage, usage_said


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


@pytest.mark.parametrize("log", [None, "", "step 1 of 2\n", "used 1 s\nAn error\n"])
def test_a_log_that_does_not_say(tmp_path, log):
    path = tmp_path / "a.log"
    if log is not None:
        path.write_text(log)
    assert usage_said(path) is None


def test_a_peak_and_children_count(tmp_path):
    """400 MB that are given back before the end, half a second of work, and half a second of a child's."""
    log = tmp_path / "a.log"
    log.write_text("a line before\n")
    work = "import time\nwhile time.process_time() < 0.5: pass\n"
    code = (
        f"{work}import subprocess, sys\n"
        "from pathlib import Path\n"
        "from macroscope.execution.limits import say_usage\n"
        "block = b'x' * 400_000_000\n"
        "del block\n"
        f"subprocess.run([sys.executable, '-c', {work!r}], check=True)\n"
        f"say_usage(Path({str(log)!r}))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    seconds, megabytes = usage_said(log)
    assert 1.0 <= seconds < 3
    assert 400 <= megabytes < 600
    assert log.read_text().startswith("a line before\n")


def test_a_command_says_it_at_the_end_of_its_log(tmp_path):
    log = tmp_path / "a.log"
    command = [sys.executable, "-m", "macroscope", "--log", str(log), "config", "schema", "--output", "schema.json"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    assert usage_said(log) is not None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_fails_no_job_that_has_done_its_work():
    say_usage(Path("/dev/full"))
