"""Jobs: stages with their files, options and resources, as the workflow's rule template takes them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from macroscope.errors import MacroscopeError, nearest
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.stages import MACHINE, Function, Stage, Wildcards, flags, input_flags

OUTPUT = "made"
"""Name of the output that a stage's function is given as `output`."""
_WILDCARD = re.compile(r"{\w+}")

Input = str | Sequence[str] | Function
"""Input of a job: a path with wildcards, paths, or a function of the wildcards that returns these."""
Values = Mapping[str, Callable[[Wildcards], Any]]
"""Name of a value -> function of a job's wildcards that returns it."""


@dataclass(frozen=True)
class Resources:
    """Resources of a job at its first attempt: numbers, or functions of its wildcards.

    Attributes
    ----------
    threads, megabytes, gpus
        Cores, memory in MB, and GPUs to request.
    """

    threads: int | Function
    megabytes: int | Function
    gpus: int | Function


@dataclass(frozen=True)
class Job:
    """A rule of the workflow, as data.

    Attributes
    ----------
    name
        Name of the rule.
    command
        Verb and names that call the stage ("critics run --critic topics --stage score").
    stage
        Declaration of the stage that runs.
    inputs
        Input name -> path with wildcards, paths, or input function.
    outputs
        Output name -> path with wildcards; `OUTPUT` is the one that the stage's function is given.
    folders
        Names of the outputs that are folders.
    values, options
        Parameter functions: the stage's values as words of the command line, and its options, if any, as JSON.
    modules
        Dotted names of the modules that it runs, or a function of the wildcards.
    resources
        Cores, memory and GPUs.
    constraints
        Wildcard -> regular expression.
    user_inputs
        Names of the inputs that may be the user's files.
    order_only
        Names of the inputs that the job waits for under Snakemake, and does not read.
    extras
        Extras of the installation that its critic or kind of system may need (`extras.EXTRAS`).
    version
        Version of the results, or a function of the wildcards; default: that of the stage.
    reported
        Output name -> how Snakemake's own report shows it: keyword arguments of its `report()`.
    """

    name: str
    command: str
    stage: Stage
    inputs: Mapping[str, Input]
    outputs: Mapping[str, str]
    values: Function
    modules: list[str] | Function
    resources: Resources
    options: Function | None = None
    folders: frozenset[str] = frozenset()
    constraints: Mapping[str, str] = field(default_factory=dict)
    user_inputs: tuple[str, ...] = ()
    order_only: tuple[str, ...] = ()
    extras: Iterable[str] = ()
    version: Any = None
    reported: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.version is None:
            object.__setattr__(self, "version", self.stage.version)

    def log(self, suffix: str) -> str:
        """Return the path of the log file: the rule's name and the wildcards of the output."""
        return f"logs/<run>/{'/'.join([self.name, *_WILDCARD.findall(self.outputs[OUTPUT])])}.{suffix}"

    def modules_of(self, wildcards: Wildcards) -> list[str]:
        """Return the dotted names of the modules that it runs with these wildcards."""
        return list(self.modules(wildcards) if callable(self.modules) else self.modules)

    @property
    def environment(self) -> str:
        """Environment under conda, relative to the folder of the rules: only what needs PyTorch has one with it."""
        needs_models = self.stage.model_option or "models" in self.extras
        return f"../../envs/{'models' if needs_models else 'statistics'}.yaml"

    @property
    def mem_mb(self) -> Function:
        """Resource function: the memory to request, in MB."""
        return _by_attempt(self.resources.megabytes)

    @property
    def runtime(self) -> Function:
        """Resource function: the run time to request, in minutes."""
        return _by_attempt(self.stage.minutes)

    @property
    def input_flags(self) -> Function:
        """Parameter function: the inputs, cores and GPUs as words of the command line."""
        return input_flags(self.stage)

    @property
    def settings(self) -> Function:
        """Parameter function: the values and the options as words of the command line."""
        given = self.options
        return lambda wildcards: [*self.values(wildcards), *(("--options", given(wildcards)) if given else ())]

    @property
    def output_flags(self) -> Function:
        """Parameter function: the outputs as words of the command line, the others than `OUTPUT` as values."""
        names = [name for name in self.outputs if name in self.stage.value_names]
        return lambda wildcards, output: [
            *flags("--value", {name: output[name] for name in names}),
            *("--output", output[OUTPUT]),
        ]


def modules_of_jobs(jobs: Iterable[Job], needed: Iterable[tuple[str, Any]]) -> list[str]:
    """Return the modules of the jobs that are needed, given as (name, wildcards), in the order of the jobs."""
    of_name: dict[str, list[Any]] = {}
    for name, wildcards in needed:
        of_name.setdefault(name, []).append(wildcards)
    modules = (job.modules_of(wildcards) for job in jobs for wildcards in of_name.get(job.name, ()))
    return list(dict.fromkeys(chain.from_iterable(modules)))


def _by_attempt(request: int | Function) -> Function:
    """Return a resource function that requests more on every attempt: its lack may have ended the attempt before."""
    if callable(request):
        return lambda wildcards, attempt: attempt * request(wildcards)
    return lambda wildcards, attempt: attempt * request


def value_words(names: Iterable[str], values: Values) -> Function:
    """Return a parameter function: values as words of the command line.

    Parameters
    ----------
    names
        Names of the values that the stage reads; values that depend on the machine are left out.
    values
        Every value that the plan knows.

    Raises
    ------
    MacroscopeError
        If the plan knows no value of a name.
    """
    wanted = [name for name in names if name not in MACHINE]
    for name in wanted:
        if name not in values:
            raise MacroscopeError(f"no stage here can read the value '{name}'{nearest(name, values)}")
    return lambda wildcards: flags("--value", {name: values[name](wildcards) for name in wanted})


def resources_of(stage: Stage, options: Function) -> Resources:
    """Return the resources of a stage's job: those of its pretrained model, or those that it declares.

    Parameters
    ----------
    options
        Function of the wildcards that returns the stage's options.
    """
    if not stage.model_option:
        gpus: int | Function = (lambda wildcards: int(stage.needs_gpu(options(wildcards)))) if stage.gpu else 0
        return Resources(stage.threads, stage.megabytes, gpus)

    def of_model(request: Callable[[str], int]) -> Function:
        return lambda wildcards: request(getattr(options(wildcards), stage.model_option))

    return Resources(of_model(threads_of), of_model(megabytes_of), of_model(gpus_of))
