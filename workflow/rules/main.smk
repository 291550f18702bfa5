"""Settings for this workflow as the main one, not for an importing one: environment, limits, messages."""

import atexit
import os
from contextlib import ExitStack

from macroscope.plan.user_files import redate_future_files
from macroscope.execution.failures import describe_failed, failed_jobs
from macroscope.execution.job_environment import (
    caches,
    imports,
    remove_rate_limit,
)
from macroscope.execution.limits import limits, waiting
from macroscope.execution.job_client import NAMES_FAILURES, SERVER, SNAKEMAKE
from macroscope.execution.job_server import job_server
from macroscope.execution.orphans import end_jobs_on_interrupt, end_with_snakemake
from macroscope.execution.slurm import check_no_jobs_left
from macroscope.execution.snakemake_command import SECOND_PASS
from macroscope.gaps import UNFINISHED, describe_missing, note_attempt, read_missing
from macroscope.jobs import modules_of_jobs
from macroscope.plan.second_pass import without_failed
from macroscope.runs.contents import remove_finished

os.environ.update(caches(Path.cwd()) | waiting())
shell.prefix(
    f"set -euo pipefail; export {SNAKEMAKE}={os.getpid()}; {imports(Path.cwd())}"
)
if workflow.is_main_process:
    end_with_snakemake()  # or with the `macroscope run` that started it
end_jobs_on_interrupt()

if workflow.global_resources["_cores"].value == 0:
    raise WorkflowError(
        "--cores 0: no job can run on no cores; give a number above 0, or 'all'"
    )
# Local jobs share this machine's resources, unless the command line gives other limits. Snakemake chooses the executor
# after it has read this file; until then, --jobs tells that jobs go elsewhere.
if workflow.is_main_process and workflow.global_resources["_nodes"].value is None:
    for name, value in limits().items():
        if name not in workflow.global_resources:
            workflow.register_resource(name, value)

if workflow.is_main_process and (note := plan.planning_note()):
    print(note, file=sys.stderr)
if workflow.is_main_process and {"params", "--rerun-triggers"} & {*sys.argv} == {
    "--rerun-triggers"
}:
    print(
        "--rerun-triggers without 'params': jobs that failed, or whose options changed, are not run again; add it",
        file=sys.stderr,
    )


def check_before_first_job():
    """Stop if jobs of an earlier call still write here, or if a resolver's package is not available to jobs."""
    try:
        check_no_jobs_left(os.getcwd())
        if not with_conda():
            for resolver in resolvers.external_resolvers():
                if not Path(resolvers.environment(resolver)).exists():
                    find_python(resolver)
            plan.require_extras()
    except MacroscopeError as error:
        raise WorkflowError(str(error)) from None


shows_progress = (  # and names failures: `macroscope run`
    "macroscope" in workflow.output_settings.log_handler_settings
)


def show_report_if_nothing_runs(record):
    """Add the paths of the report to Snakemake's message that nothing is to be done; keep all records."""
    if str(record.msg).startswith("Nothing to be done") and has_results():
        record.msg += f"\n{plan.where_to_look()}"
    return True


def has_results():
    """Return whether all results of the run exist."""
    return all(Path(target).exists() for target in plan.targets())


if workflow.is_main_process:
    logger.addFilter(show_report_if_nothing_runs)


def start_job_server():
    """Start the server that runs local jobs, unless one runs already; jobs of other environments do without.

    A cluster's jobs inherit this environment, and one on the same machine would find the server, outside its limits.
    """
    is_local = workflow.is_main_process and not workflow.non_local_exec
    if is_local and shows_progress:
        os.environ[NAMES_FAILURES] = "1"
    if is_local and not with_conda() and SERVER not in os.environ:
        needed = ((job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs())
        modules = modules_of_jobs(jobs, needed)
        server = ExitStack()
        atexit.register(server.close)
        os.environ[SERVER] = server.enter_context(job_server(Path.cwd(), modules))


onstart:
    check_before_first_job()
    begin_run()
    start_job_server()
    remove_rate_limit(workflow)
    redate_future_files(plan.user_files.made)


def begin_run():
    """Mark the run as unfinished: from now on, its texts may be newer than its tables."""
    Path(plan.results).mkdir(parents=True, exist_ok=True)
    Path(plan.results, UNFINISHED).touch()


def end_run():
    """Remove the mark, unless only a part of the run was made."""
    settings = workflow.dag_settings
    if not (settings.targets or settings.until or settings.omit_from):
        Path(plan.results, UNFINISHED).unlink(missing_ok=True)


def plan_second_pass():
    """Write the config of a second pass without what failed; `macroscope run` runs it, others are told the command."""
    finished = without_failed(plan, failed_jobs(workflow))
    if finished is None:
        return
    extra = Path(os.environ.get(SECOND_PASS) or f"logs/{finished.run}/missing.json")
    write_json(extra, {"gaps": [entry.model_dump() for entry in finished.gaps]})
    names = ", ".join(entry.name for entry in finished.failed)
    configs = " ".join(map(str, [*workflow.overwrite_configfiles, extra]))
    how = "" if SECOND_PASS in os.environ else f": snakemake --configfile {configs}"
    print(f"Second pass, for the report without {names}{how}", file=sys.stderr)


onsuccess:
    from macroscope.reporting.times import render_times, times_by_rule

    end_run()
    if has_results():
        print(plan.where_to_look(), file=sys.stderr)
    times = times_by_rule(Path("logs") / plan.config.run)
    print(render_times(times), file=sys.stderr)
    if not plan.config.failed:
        remove_finished(Path(plan.results))
    folders = [
        Path(plan.results, name) for name in ("tables", "figures", "sensitivity")
    ]
    if missing := read_missing(*folders):
        print(describe_missing(missing), file=sys.stderr)
        if any(entry.stage for entry in missing):
            note_attempt(Path(plan.results))
        raise SystemExit(IN_PART)


onerror:
    failed = failed_jobs(workflow)
    if failed and not shows_progress:
        print(
            f"Failed: {describe_failed(failed, keeps_logs=True)}", file=sys.stderr
        )
    plan_second_pass()
