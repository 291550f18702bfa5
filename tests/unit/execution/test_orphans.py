"""Jobs end with the Snakemake process that started them, whoever else is sent the signal."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from macroscope.files import REPOSITORY

SNAKEFILE = """
import os, sys
from macroscope.execution.orphans import SNAKEMAKE, end_jobs_on_interrupt

shell.prefix(f"export {SNAKEMAKE}={os.getpid()}; ")
end_jobs_on_interrupt()

rule job:
    output: "results/done.txt"
    params: python=sys.executable
    shell: "{params.python} job.py {output}; true"
"""
JOB = """
import subprocess, sys, time
from pathlib import Path

from macroscope.files import atomic
from macroscope.execution.orphans import end_with_snakemake

end_with_snakemake()
worker = subprocess.Popen(["sleep", "300"])
with atomic(Path(sys.argv[1])) as output:
    output.write_text("half")
    Path("worker").write_text(str(worker.pid))
    {wait}
"""
WAIT = "time.sleep(300)"
STUBBORN = """
    while True:
        try:
            time.sleep(300)
        except BaseException:
            pass
"""


def until(condition, seconds):
    """Seconds that it takes; None where it takes too long."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if condition():
            return time.monotonic() - start
        time.sleep(0.1)
    return None


@pytest.fixture
def started(tmp_path):
    """Start Snakemake and wait for its job; gives both, and the job's own process."""
    ours = []

    def start(wait=WAIT):
        (tmp_path / "Snakefile").write_text(SNAKEFILE)
        (tmp_path / "job.py").write_text(JOB.format(wait=wait))
        snakemake = subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "1"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # A shell that starts its jobs in the background makes them ignore the signal, and their children as well.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert until(lambda: (tmp_path / "worker").exists() and (tmp_path / "worker").read_text(), 30) is not None
        time.sleep(0.5)  # the job looks for its parent beside its work
        worker = psutil.Process(int((tmp_path / "worker").read_text()))
        ours.extend([psutil.Process(snakemake.pid), worker.parent(), worker])
        return snakemake, worker.parent(), worker

    yield start
    for process in ours:
        if process.is_running():
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_signal_to_snakemake_alone_ends_its_jobs(started, tmp_path, number):
    snakemake, job, worker = started()
    snakemake.send_signal(number)
    took = until(lambda: not job.is_running() and not worker.is_running(), 10)
    assert took is not None
    assert took < (2 if number == signal.SIGKILL else 6)
    assert snakemake.wait(10) != 0
    # What was half written is gone.
    assert list((tmp_path / "results").rglob("*")) == []


def test_a_job_that_does_not_listen_is_killed(started):
    snakemake, job, worker = started(STUBBORN)
    snakemake.kill()
    snakemake.wait()
    assert until(lambda: not job.is_running() and not worker.is_running(), 10) is not None


def test_after_sigterm_running_jobs_finish(started, tmp_path):
    snakemake, *_ = started("worker.kill(); time.sleep(4)")
    snakemake.terminate()
    snakemake.wait(30)
    assert (tmp_path / "results" / "done.txt").read_text() == "half"


def test_by_hand_nothing_is_watched(tmp_path):
    script = "from macroscope.execution.orphans import end_with_snakemake; end_with_snakemake(); import threading; "
    command = [sys.executable, "-c", script + "print(threading.active_count())"]
    environment = {name: value for name, value in os.environ.items() if name != "MACROSCOPE_SNAKEMAKE_PID"}
    environment["PYTHONPATH"] = str(REPOSITORY / "workflow")
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "1\n"
    # Nor where the process of that number is none that started it.
    script += "import time; time.sleep(1); "
    command = [sys.executable, "-c", script + "print(threading.active_count())"]
    stranger = subprocess.Popen(["sleep", "60"])
    environment["MACROSCOPE_SNAKEMAKE_PID"] = str(stranger.pid)
    try:
        assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "1\n"
    finally:
        stranger.kill()
        stranger.wait()
