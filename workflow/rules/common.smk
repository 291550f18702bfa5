"""What all rules share: the plan, wildcard constraints, and the environment of the jobs. No rules here."""

import os
import sys
import time
from pathlib import Path

PACKAGE = Path(workflow.basedir) / "workflow"
sys.path.insert(0, str(PACKAGE))

from macroscope.errors import MacroscopeError
from macroscope.files import write_text
from macroscope.files import read_yaml
from macroscope.execution.orphans import SNAKEMAKE, end_jobs_on_interrupt
from macroscope.execution.limits import limits, waiting
from macroscope.files import RESOURCES
from macroscope.execution.job_environment import caches
from macroscope.execution.slurm_jobs import ClusterJobs
from macroscope.execution.scheduling import turn_only_when_needed
from macroscope.execution.job_environment import in_shell
from macroscope.stages import input_flags, repeated_flag
from snakemake.exceptions import WorkflowError

try:
    # The config's schema holds what other people's packages declare: a broken one of theirs is found here.
    from macroscope.plan import load_plan

    for path in workflow.configfiles:
        read_yaml(path)  # Snakemake takes the last of two keys of one name
    plan = load_plan(config)
except MacroscopeError as error:
    raise WorkflowError(str(error)) from None

os.environ.update(caches(Path.cwd()) | waiting())
# Jobs run this checkout's package, with the interpreter that runs Snakemake unless Snakemake activated another
# environment for the job (--sdm conda).
shell.prefix(
    "set -euo pipefail; "
    f'export PYTHONPATH={in_shell(PACKAGE)}":${{{{PYTHONPATH:-}}}}" {SNAKEMAKE}={os.getpid()}; '
    'case "${{CONDA_PREFIX:-}}" in *.snakemake*) ;; '
    f'*) export PATH={in_shell(Path(sys.executable).parent)}":$PATH" ;; esac; '
)


end_jobs_on_interrupt()


def keep_to_this_machine():
    """Let jobs that run here have what this machine has, unless the command line gives other limits."""
    if workflow.global_resources["_cores"].value == 0:
        raise WorkflowError(
            "--cores 0: no job can run on no cores; give a number above 0, or 'all'"
        )
    is_local = workflow.is_main_process and not workflow.non_local_exec
    if is_local and workflow.global_resources["_nodes"].value is None:
        for name, value in limits().items():
            if name not in workflow.global_resources:
                workflow.register_resource(name, value)


keep_to_this_machine()


pathvars:
    # Not a wildcard: Snakemake finds the rules that may make a file by what stands before the first one.
    run=plan.config.run,


wildcard_constraints:
    corpus="|".join(plan.config.corpora),
    # Any name: with a thousand systems, a list of all of them takes longer to match than everything else.
    system=r"[A-Za-z0-9_-]+",
    part=r"[A-Za-z0-9-]+",
    shard=r"\d+",
    split="valid|test",


BEGAN = time.time()
"""Seconds since the epoch: older logs are those of earlier calls."""
cluster_jobs = ClusterJobs(workflow, has_checkpoints=plan.critics.is_sharded)


def check_cluster():
    """Stop where a job could never start on the cluster."""
    try:
        cluster_jobs.check()
    except MacroscopeError as error:
        raise WorkflowError(str(error)) from None


CHECKS = [check_cluster]
"""What is looked at before the first job runs; rule files add theirs."""


def check_accepted():
    """Stop where older code is accepted of rules that are not there."""
    try:
        plan.code.check_names()
    except MacroscopeError as error:
        raise WorkflowError(str(error)) from None


def write_effective_config():
    """Keep the config with all its defaults beside the results: the report reads it."""
    write_text(Path(plan.effective_config), plan.effective_json())


def print_where_to_look():
    """Name what a person opens first."""
    if all(Path(target).exists() for target in plan.targets()):
        print(plan.where_to_look(), file=sys.stderr)


def print_reasons():
    """Say in one sentence each why jobs failed; it stands far above otherwise."""
    from macroscope.execution.failures import reasons_of_failure

    for reason in reasons_of_failure(Path("logs"), BEGAN):
        print(f"A job failed: {reason}", file=sys.stderr)


def print_times():
    """Say what took the time."""
    from macroscope.reporting.times import render_times, times_by_rule

    print(render_times(times_by_rule(Path("logs") / plan.config.run)), file=sys.stderr)
