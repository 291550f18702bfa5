"""The steps of a run without Snakemake: jobs of systems and critics, and the commands of the other rules.

They are those of `workflow/rules/` for texts that are files; a test compares the commands.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.engine.tasks import Files, Machine, Step, Task, find_tasks, modules_of_step, step_of_job
from macroscope.plan.corpora import PREPARATION_VERSION
from macroscope.plan.critics import PLACES

if TYPE_CHECKING:
    from macroscope.plan import Plan

_CORPUS = "results/<run>/corpora/{corpus}"
_FIGURE_THREADS = 4


def steps(plan: "Plan") -> list[Step]:
    """Return the steps of a run: documents, samples, critics, statistics, tables, figures and pages."""
    of_jobs = [step_of_job(job) for job in plan.jobs()]
    all_steps = [*_corpora_steps(plan), *of_jobs, *_reporting_steps(plan)]
    return [_of_run(step, plan.config.run, plan.constraints()) for step in all_steps]


def tasks_of(plan: "Plan", machine: Machine, folder: Path, targets: Iterable[str]) -> list[Task]:
    """Return the tasks that make files of a run, in an order in which each finds its inputs.

    Parameters
    ----------
    folder
        Folder of the run.

    Raises
    ------
    MacroscopeError
        If the run has files that only the workflow makes, such as downloads.
    """

    def exists(path: str) -> bool:
        return (folder / path).exists()

    return find_tasks(steps(plan), targets, machine, exists)


def modules_of_jobs(plan: "Plan", jobs: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the modules of jobs of the workflow, given as (rule, wildcards), in the order of the steps."""
    of_rule: dict[str, list[Any]] = {}
    for rule, wildcards in jobs:
        of_rule.setdefault(rule, []).append(wildcards)
    names = (modules_of_step(step, w) for step in steps(plan) for w in of_rule.get(step.name, ()))
    return list(dict.fromkeys(chain.from_iterable(names)))


def _of_run(step: Step, run: str, constraints: Mapping[str, str]) -> Step:
    """Return a step with the name of the run in its paths, and the constraints of all rules."""

    def fill(value: Any) -> Any:
        return value.replace("<run>", run) if isinstance(value, str) else value

    return replace(
        step,
        inputs={name: fill(value) for name, value in step.inputs.items()},
        outputs={name: fill(value) for name, value in step.outputs.items()},
        log=fill(step.log),
        constraints={**constraints, **step.constraints},
    )


def _corpora_steps(plan: "Plan") -> list[Step]:
    corpora = plan.corpora

    def extract(wildcards: Any, inputs: Files, outputs: Mapping[str, str], machine: Machine) -> list[str]:
        return [
            *("corpora", "extract", "--corpus", wildcards.corpus, "--options", corpora.extraction_options(wildcards)),
            *("--input", inputs["raw"], "--output", outputs["made"], "--threads", str(machine.threads)),
        ]

    def prepare(wildcards: Any, inputs: Files, outputs: Mapping[str, str], machine: Machine) -> list[str]:
        return [
            *("corpora", "prepare", "--corpus", wildcards.corpus, "--options", corpora.preparation_options(wildcards)),
            *("--documents", outputs["documents"], "--filters", outputs["filters"], "--summary", outputs["summary"]),
            *("--section-types", outputs["section_types"], *inputs["parts"]),
        ]

    def simulate(kind: str) -> Step:
        options = corpora.simulation_options(kind)
        return Step(
            name=f"simulate_{kind}",
            inputs={},
            outputs={
                "raw": f"{_CORPUS}/raw/{corpora.simulations[kind].raw}",
                "process": PLACES["process"],
            },
            log=f"logs/<run>/simulate_{kind}/{{corpus}}.log",
            words=lambda wildcards, inputs, outputs, machine: [
                *("corpora", "simulate", "--options", options(wildcards), "--seed", str(plan.config.seed)),
                *("--raw", outputs["raw"], "--truth", str(Path(outputs["process"]).parent)),
            ],
            modules=corpora.simulating_module(kind),
            version=corpora.simulations[kind].version,
            constraints={"corpus": corpora.simulated(kind)},
        )

    return [
        *(simulate(kind) for kind in corpora.simulations),
        Step(
            name="extract_documents",
            inputs={"raw": corpora.raw_part},
            outputs={"made": f"{_CORPUS}/extracted/{{part}}.parquet"},
            log="logs/<run>/extract_documents/{corpus}/{part}.log",
            words=extract,
            modules=corpora.reading_module,
            version=corpora.reading_version,
            threads=corpora.reading_threads,
            megabytes=3000,
        ),
        Step(
            name="prepare_documents",
            inputs={"parts": corpora.parts},
            outputs={
                "documents": PLACES["documents"],
                **{name: f"{_CORPUS}/{name}.csv" for name in ("filters", "summary", "section_types")},
            },
            log="logs/<run>/prepare_documents/{corpus}.log",
            words=prepare,
            modules="macroscope.corpora.prepare",
            version=PREPARATION_VERSION,
            megabytes=4000,
        ),
    ]


def _reporting_steps(plan: "Plan") -> list[Step]:
    reporting, results = plan.reporting, plan.results
    config, tables, figures = plan.config_file, f"{results}/tables", f"{results}/figures"
    pages = {"first": f"{results}/report.html", "pages": f"{results}/pages"}

    def step(rule: str, inputs: Mapping[str, Any], outputs: Mapping[str, str], *words: str, **more: Any) -> Step:
        return Step(
            name=rule,
            inputs={**inputs, "config": config},
            outputs=outputs,
            log=f"logs/<run>/{rule}.log",
            words=lambda wildcards, inputs, outputs, machine: [
                *("reporting", words[0], "--config", config, *words[1:]),
                *(("--processes", str(machine.threads)) if "threads" in more else ()),
            ],
            megabytes=4000,
            version=reporting.version(words[0]),
            **more,
        )

    return [
        step(
            "make_tables",
            reporting.tables_read(),
            {"made": tables},
            *("tables", "--output", tables),
            modules=reporting.modules("tables"),
        ),
        step(
            "plot_figures",
            {**reporting.figures_read(), "tables": tables},
            {"made": figures},
            *("figures", "--tables", tables, "--output", figures),
            modules=reporting.modules("figures"),
            threads=_FIGURE_THREADS,
        ),
        step(
            "write_report",
            {**reporting.report_read(), "tables": tables, "figures": figures},
            pages,
            *("report", "--tables", tables, "--figures", figures, "--times", f"logs/{plan.config.run}"),
            *("--output", pages["first"], "--pages", pages["pages"]),
            modules=reporting.modules("report"),
        ),
        step(
            "write_sensitivity",
            reporting.sensitivity_read(),
            {"made": f"{results}/sensitivity"},
            *("sensitivity", "--output", f"{results}/sensitivity"),
            modules="macroscope.reporting.sensitivity",
        ),
        step(
            "write_reader",
            reporting.reader_read(),
            {"made": f"{results}/reader"},
            *("reader", "--output", f"{results}/reader"),
            modules="macroscope.reporting.reader.writing",
        ),
    ]
