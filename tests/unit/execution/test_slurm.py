"""Partitions of a cluster, and jobs that can never start there."""

import asyncio
import math
import os
from types import SimpleNamespace

import pytest
from snakemake.jobs import Job

from macroscope.errors import MacroscopeError
from macroscope.execution.slurm import Node, Waiting, read_partitions, too_large, wanted
from macroscope.execution.slurm_jobs import keep_finished_members

LISTED = """\
main*|infinite|16|64000|(null)
main*|infinite|8|512000|gpu:a100:4(S:0-1)
short|1-02:30:00|16|64000|(null)
debug|30:00|4|8000|gpu:2,shard:8
"""


def test_partitions_are_read():
    partitions = read_partitions(LISTED)
    assert partitions["main"].is_default
    assert partitions["main"].minutes == math.inf
    assert partitions["main"].nodes == (Node(16, 64000, 0), Node(8, 512000, 4))
    assert partitions["short"].minutes == 26 * 60 + 30
    assert partitions["debug"].nodes == (Node(4, 8000, 2),)
    assert [partition.name for partition in wanted(None, partitions)] == ["main"]
    assert [partition.name for partition in wanted("debug,short", partitions)] == ["debug", "short"]
    with pytest.raises(MacroscopeError, match=r"no partition 'shrot'.*short"):
        wanted("shrot", partitions)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"threads": 4, "mem_mb": 8000, "gpu": 0, "runtime": 60}, None),
        ({"threads": 16, "mem_mb": 64000, "gpu": 0, "runtime": 60}, None),
        ({"threads": 16, "mem_mb": 512000, "gpu": 0, "runtime": 60}, "no single node of partition main has all of it"),
        ({"threads": 32, "mem_mb": 1, "gpu": 8, "runtime": 60}, "32 processors (the most is 16) and 8 GPUs"),
    ],
)
def test_what_can_never_start_is_named_with_what_to_set(asked, words):
    sentence = too_large("train", asked, wanted(None, read_partitions(LISTED)))
    assert (sentence is None) == (words is None)
    assert words is None or words in sentence


def test_run_time_counts_too():
    partitions = wanted("debug", read_partitions(LISTED))
    sentence = too_large("train", {"threads": 1, "mem_mb": 1, "gpu": 0, "runtime": 31}, partitions)
    assert "31 minutes (the most is 30)" in sentence
    assert "--set-resources train:runtime=30" in sentence


@pytest.mark.parametrize(
    ("reason", "never"),
    [("Priority", False), ("Resources", False), ("PartitionConfig", True), ("QOSMaxCpuPerJobLimit", True)],
)
def test_reasons_that_no_time_cures(reason, never):
    assert Waiting("1", "rule_a", reason).never_starts == never


@pytest.mark.parametrize(
    ("group", "ages", "is_kept"),
    [
        ("attribute", [1, 1], True),
        ("attribute", [1, -1], False),  # of an earlier call, and so perhaps of other options
        ("attribute", [1, None], False),
        (None, [1, 1], False),
    ],
)
def test_what_this_call_made_whole_stays_where_another_of_its_group_failed(tmp_path, monkeypatch, group, ages, is_kept):
    since, removed = 1_000_000_000, []

    async def remove(job, skip_outputs):
        removed.append(job)

    async def exists(path):
        return os.path.exists(path)

    async def mtime(path):
        return SimpleNamespace(local_or_storage=lambda: os.path.getmtime(path))

    monkeypatch.setattr(Job, "cleanup", remove)
    keep_finished_members(since)
    outputs = [SimpleNamespace(path=tmp_path / str(number)) for number in range(len(ages))]
    for output, age in zip(outputs, ages, strict=True):
        output.exists, output.mtime = lambda path=output.path: exists(path), lambda path=output.path: mtime(path)
        if age is not None:
            output.path.touch()
            os.utime(output.path, (since + age, since + age))
    asyncio.run(Job.cleanup(SimpleNamespace(group=group, output=outputs), set()))
    assert (not removed) == is_kept
