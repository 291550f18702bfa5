"""Partitions of a cluster, and jobs that can never start there."""

import math

import pytest

from macroscope.errors import MacroscopeError
from macroscope.execution.slurm import (
    Node,
    Requests,
    Waiting,
    read_partitions,
    read_requests,
    too_large,
    wanted,
    without_shards,
)

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


DRY_RUN = """\
rule prepare_documents:
    input: results/a.parquet
    output: results/b.parquet
    jobid: 3
    threads: 4
    resources: tmpdir=<TBD>, mem_mb=<TBD>, mem=4 GB, runtime=240, slurm_partition=short,main, gpu=0

localrule retrieve:
    output: data/x
    resources: mem_mb=500, runtime=1440

rule finetune:
    output: results/model
    resources: mem_mb=16000, runtime=60, gpu=2

rule finetune:
    output: results/other
    resources: mem_mb=16000, runtime=60, gpu=2
"""


def test_requests_are_read_once_each_without_local_jobs():
    assert read_requests(DRY_RUN) == [
        Requests("prepare_documents", 4, 0, 0, 240, "short,main"),
        Requests("finetune", 1, 16000, 2, 60, ""),
    ]


@pytest.mark.parametrize(
    ("arguments", "planned"),
    [
        (["-c", "2"], ["-c", "2", "--config", "documents_per_shard="]),
        (["--config", "seed=2", "-c", "2"], ["--config", "documents_per_shard=", "seed=2", "-c", "2"]),
        (["-C", "seed=2"], ["-C", "documents_per_shard=", "seed=2"]),
        (["--config=seed=2"], ["--config", "documents_per_shard=", "seed=2"]),
    ],
)
def test_a_run_is_planned_without_shards_and_with_the_config_of_the_command_line(arguments, planned):
    assert without_shards(arguments) == planned
