"""Kills at any moment and a disk that takes no more: the next call goes on, and its results are those of a quiet run.

`make test-faults` runs these, in minutes; FAULTS_SEED chooses the moments.
"""

import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from macroscope.reporting.times import times_by_rule

from ..workflow.conftest import Run, copy_checkout

pytestmark = pytest.mark.faults

SEED = int(os.environ.get("FAULTS_SEED", "1"))
LONGEST_WAIT_SECONDS = 2
"""From when a job is seen until it is killed; shorter jobs are killed at any moment of their time."""
END_SECONDS = 20
"""Within which jobs end that have lost their Snakemake."""
LARGEST_FILE = 60_000
"""Bytes of a file where the disk is said to be full."""


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("quiet")
    run = Run(folder, copy_checkout(folder / "checkout"))
    fresh = run.copied(run.work.with_name("fresh"))
    done = run.snakemake()
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    run.fresh = fresh
    return run


def digests(run):
    """Path -> digest of every result; the report tells how long things took, and is none."""
    results = run.work / "results" / "test"
    files = [
        path
        for path in results.rglob("*")
        if path.is_file() and path.name != "report.html" and path.parent.name != "pages"
    ]
    assert (results / "report.html").exists()
    return {str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def start(run, log, **options):
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(run.checkout / "Snakefile")),
        *("--directory", str(run.work), "--configfile", str(run.work / "config.yaml"), "--cores", "2", "--nocolor"),
    ]
    with log.open("ab") as stream:
        return subprocess.Popen(command, stdout=stream, stderr=stream, start_new_session=True, **options)


def running(process):
    """Return the rules of the jobs that a Snakemake runs now, from their logs."""
    rules = set()
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            words = child.cmdline()
            if "--log" in words and words.index("--log") + 1 < len(words):
                rules.add(Path(words[words.index("--log") + 1]).parts[2].removesuffix(".log"))
    except psutil.Error:  # it ended while we looked
        pass
    return rules


def kill(process, run, with_its_jobs):
    """Kill as the system does that is short of memory: Snakemake alone, or everything."""
    if with_its_jobs:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    until = time.monotonic() + END_SECONDS
    while left := [p for p in psutil.process_iter() if _is_at(p, run.work)]:
        assert time.monotonic() < until, f"jobs outlive their Snakemake: {left}"
        time.sleep(0.1)
    shutil.rmtree(run.work / ".snakemake" / "locks", ignore_errors=True)  # as `snakemake --unlock`


def _is_at(process, folder):
    try:
        return process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == folder
    except (psutil.Error, OSError):
        return False


def finish(run, log, disturb):
    """Start again and again until a call ends well; `disturb` is asked what to do while one runs."""
    for _ in range(200):
        process = start(run, log)
        try:
            while process.poll() is None:
                if disturb(process):
                    break
                time.sleep(0.01)
            else:
                assert process.returncode == 0, log.read_text()[-6000:]
                return
        finally:
            if process.poll() is None:  # the test failed
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    raise AssertionError("it does not come to an end")


def test_killed_in_every_rule(quiet, tmp_path):
    run, rng, killed = quiet.fresh.copied(tmp_path / "work"), random.Random(SEED), set()
    times = times_by_rule(quiet.work / "logs" / "test")
    typical = (times["seconds"] / times["jobs"]).to_dict()

    def disturb(process):
        new = running(process) - killed
        if not new:
            return False
        time.sleep(rng.uniform(0, min(LONGEST_WAIT_SECONDS, *(typical.get(rule, 0) for rule in new))))
        dying = running(process)
        if not dying - killed:  # it has ended
            return False
        killed.update(dying)
        kill(process, run, with_its_jobs=rng.random() < 0.7)
        return True

    finish(run, tmp_path / "log", disturb)
    assert len(killed & set(typical)) >= 0.8 * len(typical)
    assert digests(run) == digests(quiet)
    assert not list((run.work / "results").rglob(".*scratch-*"))


def test_killed_while_it_trains_again_and_again(quiet, tmp_path):
    run, rng, kills = quiet.fresh.copied(tmp_path / "work"), random.Random(SEED + 1), []

    def disturb(process):
        # os.walk, unlike rglob, goes on where a folder is gone before it is looked into.
        folders = (name for _, names, _ in os.walk(run.work / "results") for name in names)
        if len(kills) == 5 or not any(name.startswith("checkpoint-") for name in folders):
            return False
        time.sleep(rng.uniform(0, 0.2))
        kills.append(1)
        kill(process, run, with_its_jobs=True)
        return True

    finish(run, tmp_path / "log", disturb)
    assert kills
    assert digests(run) == digests(quiet)


def test_a_disk_that_takes_no_more(quiet, tmp_path):
    run, log = quiet.fresh.copied(tmp_path / "work"), tmp_path / "log"
    limit = (LARGEST_FILE, LARGEST_FILE)
    process = start(run, log, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert process.wait() != 0
    said = "".join(path.read_text(errors="replace") for path in (run.work / "logs").rglob("*.log"))
    assert "macroscope: error: " in said
    assert "Traceback" not in said
    shutil.rmtree(run.work / ".snakemake" / "locks", ignore_errors=True)  # as `snakemake --unlock`
    finish(run, log, lambda process: False)
    assert digests(run) == digests(quiet)
