"""Runs on a real Slurm: all nodes work, results are those of one machine, and what dies is made up for."""

import re
import subprocess
import time

import pytest

from macroscope.execution.slurm import jobs_of, partitions, wanted

from .conftest import Cluster
from .slurm import NODES

pytestmark = pytest.mark.cluster
WAIT_SECONDS = 300
"""From which on something is said to hang; a busy machine takes minutes to start a job."""
TWENTY_PASSES = {"method": "em", "smoothing": 1, "starts": 1, "iterations": 20, "tolerance": 0, "batch_size": 256}


def until(happens):
    """Wait until a function returns something true, and return it."""
    end = time.monotonic() + WAIT_SECONDS
    while not (result := happens()):
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.3)
    return result


def test_nodes_are_read(slurm):
    by_name = partitions()
    assert sorted(by_name) == ["main", "short"]
    assert by_name["main"].most("gpu") == 2
    assert by_name["short"].most("gpu") == 0
    assert by_name["short"].most("runtime") == 20
    assert [partition.name for partition in wanted(None, by_name)] == ["main"]


def test_a_whole_run_is_byte_equal_to_one_machines(slurm, on_cluster, fresh, tmp_path):
    """Texts are sharded, jobs go to all nodes; times and memory are on one page, which may differ."""
    alone = fresh.copied(tmp_path / "alone")
    assert alone.snakemake().returncode == 0
    done = on_cluster.call()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    jobs = [node for node, _, place in slurm.finished() if place == str(on_cluster.work)]
    assert set(jobs) == {node.name for node in NODES}
    here, there = alone.work / "results", on_cluster.work / "results"
    assert list(on_cluster.work.glob("logs/test/project_strings/real/mine/1.log"))
    names = sorted(path.relative_to(here) for path in here.rglob("*") if path.suffix in {".csv", ".html", ".tex"})
    assert len(names) > 30
    different = [str(name) for name in names if (here / name).read_bytes() != (there / name).read_bytes()]
    assert different == ["test/pages/counts.html"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--set-resources", "project_strings:mem_mb=64000"), "64000 MB of memory (the most is 16000)"),
        (("--set-resources", "project_strings:gpu=3"), "3 GPUs (the most is 2)"),
        (("--default-resources", "slurm_partition=shrt"), "no partition 'shrt'; did you mean 'short'"),
    ],
)
def test_the_check_names_jobs_that_could_never_start(on_cluster, arguments, sentence):
    done = on_cluster.check(*arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_the_check_names_settings_that_the_cluster_needs(on_cluster):
    done = on_cluster.check()
    assert done.returncode == 0, done.stderr
    assert "--slurm-status-command squeue" in done.stdout


def test_a_job_killed_for_memory_asks_for_more_and_succeeds(on_cluster):
    """Slurm kills it at 100 MB, which Snakemake alone needs."""
    done = on_cluster.call(
        "--until", "generate_files", "--set-resources", "generate_files:mem_mb=100*attempt", "--retries", "8"
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-4000:]
    asked = [int(number) for number in re.findall(r"rule generate_files:.*?mem_mb=(\d+)", output, re.DOTALL)]
    assert len(asked) > 1
    assert asked == [100 * attempt for attempt in range(1, len(asked) + 1)]


def test_a_node_that_dies_and_a_cancelled_job_cost_one_job_each(slurm, on_cluster):
    place = str(on_cluster.work)
    began, node = on_cluster.begun("--until", "gather_strings", "gather_tendencies"), None
    try:
        [first, *_] = until(lambda: jobs_of(place))
        subprocess.run(["scancel", first], check=True)
        node = until(
            lambda: next((j["NodeList"] for n in jobs_of(place) if (j := slurm.job(n))["JobState"] == "RUNNING"), None)
        )
        slurm.kill_node(node)
        began.wait(timeout=2 * WAIT_SECONDS)
    finally:
        began.kill()
        if node:
            slurm.start_node(node)
        until(lambda: set(slurm.states().values()) <= {"idle", "mix", "alloc"})
    log = (on_cluster.work / "began.log").read_text()
    assert began.returncode == 0, log[-6000:]


def test_a_killed_snakemake_goes_on_where_it_was(on_cluster):
    place = str(on_cluster.work)
    began = on_cluster.begun("--until", "gather_strings")
    until(lambda: list((on_cluster.work / "results").rglob("documents.parquet")))
    until(lambda: jobs_of(place))
    began.kill()
    began.wait()
    assert on_cluster.call("--unlock").returncode == 0
    second = on_cluster.call("--until", "gather_strings")
    if jobs_of(place):
        assert "scancel" in second.stderr + second.stdout
    until(lambda: not jobs_of(place))
    before = on_cluster.times()
    done = on_cluster.call("--until", "gather_strings")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    after = on_cluster.times()
    corpus = [name for name in before if name.endswith("documents.parquet")]
    assert corpus
    assert all(before[name] == after[name] for name in corpus)


def test_a_job_over_its_time_limit_goes_on_from_its_checkpoint_with_more_time(slurm, fresh, tmp_path):
    """A training is stopped after two checkpoints, and its limit is set to a minute, which is Slurm's shortest one."""
    cluster = Cluster(fresh.copied(tmp_path / "work"))
    letters = {"source": "simulated", "kind": "hsmm", "documents": 2000, "test_share": 0.01}
    cluster.run.config |= {
        "corpora": {"letters": letters},
        "systems": {"hsmm": {"kind": "hsmm", "states": 16, "longest": 5, "ngrams": 400, "fit": TWENTY_PASSES}},
        "critics": {"synthetic": {}},
        "comparisons": [{"corpus": "letters", "systems": ["hsmm"], "critics": ["synthetic"]}],
    }
    cluster.run.save()
    began = cluster.begun("--until", "train_hsmm")
    log = cluster.work / "logs/test/train_hsmm/letters/hsmm.log"
    try:
        until(lambda: log.exists() and log.read_text().count("validation loss") > 2)  # two checkpoints at least
        [training] = cluster.processes("train_hsmm")
        training.suspend()
        [number] = jobs_of(str(cluster.work))
        subprocess.run(["scontrol", "update", f"JobId={number}", "TimeLimit=1"], check=True)
        began.wait(timeout=2 * WAIT_SECONDS)
    finally:
        began.kill()
        began.wait()
    output = (cluster.work / "began.log").read_text()
    assert began.returncode == 0, output[-6000:]
    first_minutes, second_minutes = map(int, re.findall(r"rule train_hsmm:.*?runtime=(\d+)", output, re.DOTALL))
    assert second_minutes == 2 * first_minutes
    # Slurm's log of a try is kept if it failed; the job's own is that of the last one.
    [first] = cluster.work.glob(".snakemake/slurm_logs/rule_train_hsmm/**/*.log")
    assert "DUE TO TIME LIMIT" in first.read_text()
    [resumed] = re.findall(r"resuming start 1 at iteration (\d+)", log.read_text())
    assert int(resumed) > 1
