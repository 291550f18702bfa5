"""Requests of jobs in the output of a dry run."""

import pytest

from macroscope.execution.cluster_check import Requests, read_requests, without_shards

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
