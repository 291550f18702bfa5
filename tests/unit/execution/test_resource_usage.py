"""Usage of processes with known processor time and memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from macroscope.execution.resource_usage import say_usage, usage_said


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
        "from macroscope.execution.resource_usage import say_usage\n"
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
