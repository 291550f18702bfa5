"""Tasks: the commands of a run with their files, in an order in which each finds its inputs.

A step is a rule without Snakemake: the same patterns of files, and the words of the same command. `engine.pool` runs
tasks; the workflow runs the rules.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.jobs import OUTPUT, Job

_WILDCARD = re.compile(r"{(\w+)}")
Files = dict[str, Any]
"""Name of an input -> path or list of paths."""


class TaskWildcards:
    """Values of a task's wildcards, as attributes and as items.

    Parameters
    ----------
    values
        Wildcard -> value.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getattr__(self, name: str) -> str:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def items(self) -> Iterable[tuple[str, str]]:
        """Return the (wildcard, value) pairs."""
        return self._values.items()

    def fill(self, pattern: str) -> str:
        """Return a pattern with the values in the place of its wildcards."""
        return _WILDCARD.sub(lambda match: self._values[match[1]], pattern)


@dataclass(frozen=True)
class Machine:
    """The part of this machine that a task may use.

    Attributes
    ----------
    threads, gpus, megabytes
        Numbers of cores and of GPUs, and memory in MB.
    """

    threads: int
    gpus: int = 0
    megabytes: int = 0


@dataclass(frozen=True)
class Task:
    """A command with its files.

    Attributes
    ----------
    name
        Name of the rule that runs the same command.
    words
        Arguments of `python -m macroscope`, without those of the log.
    inputs, outputs, log
        Paths relative to the working directory.
    modules
        Dotted names of the modules that it runs.
    recipe
        What determines its outputs, besides its inputs: its words on any machine, and the version of its stage.
    uses
        The part of the machine that it uses.
    minutes
        The longest time that is expected: long tasks begin first.
    """

    name: str
    words: list[str]
    inputs: list[str]
    outputs: list[str]
    log: str
    modules: list[str]
    recipe: list[str] = field(default_factory=list)
    uses: Machine = Machine(1)
    minutes: int = 0


@dataclass(frozen=True)
class Step:
    """A rule, as data.

    Attributes
    ----------
    name
        Name of the rule.
    inputs
        Input name -> path with wildcards, paths, or input function.
    outputs
        Output name -> path with wildcards.
    log
        Path of the log, with the wildcards of the outputs.
    words
        Function of wildcards, inputs, outputs and `Machine` that returns the arguments of `python -m macroscope`.
    modules, version, threads, gpus, megabytes
        See `Job` and `Stage`; a value or a function of the wildcards.
    constraints
        Wildcard -> regular expression.
    minutes
        See `Task`.
    """

    name: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, str]
    log: str
    words: Callable[[Any, Files, Mapping[str, str], Machine], list[str]]
    modules: Any
    version: Any = 1
    threads: Any = 1
    gpus: Any = 0
    megabytes: Any = 2000
    constraints: Mapping[str, str] = field(default_factory=dict)
    minutes: int = 0

    @cached_property
    def _patterns(self) -> list["re.Pattern[str]"]:
        return [_compile(pattern, self.constraints) for pattern in self.outputs.values()]

    def match(self, path: str) -> TaskWildcards | None:
        """Return the wildcards with which this step makes a file; None if it does not."""
        for pattern in self._patterns:
            if match := pattern.fullmatch(path):
                return TaskWildcards(match.groupdict())
        return None

    def task(self, wildcards: TaskWildcards, machine: Machine) -> Task:
        """Return the task that makes the outputs with these wildcards."""
        inputs = {name: _fill_input(given, wildcards) for name, given in self.inputs.items()}
        outputs = {name: wildcards.fill(pattern) for name, pattern in self.outputs.items()}
        uses = Machine(
            max(1, min(machine.threads, _value(self.threads, wildcards))),
            min(machine.gpus, _value(self.gpus, wildcards)),
            _value(self.megabytes, wildcards),
        )
        return Task(
            name=self.name,
            words=self.words(wildcards, inputs, outputs, uses),
            inputs=list(_flat(inputs.values())),
            outputs=list(outputs.values()),
            log=wildcards.fill(self.log),
            modules=modules_of_step(self, wildcards),
            recipe=[str(_value(self.version, wildcards)), *self.words(wildcards, inputs, outputs, Machine(1))],
            uses=uses,
            minutes=self.minutes,
        )


def modules_of_step(step: Step, wildcards: Any) -> list[str]:
    """Return the dotted names of the modules that a step runs with these wildcards."""
    modules = _value(step.modules, wildcards)
    return [modules] if isinstance(modules, str) else list(modules)


def step_of_job(job: Job) -> Step:
    """Return the step of a job of the plan."""

    def words(wildcards: Any, inputs: Files, outputs: Mapping[str, str], machine: Machine) -> list[str]:
        return [
            *job.command.split(),
            *job.input_flags(wildcards, inputs, machine.threads, {"gpu": machine.gpus}),
            *job.values(wildcards),
            *job.output_flags(wildcards, outputs),
            *("--options", job.options(wildcards), "--output", outputs[OUTPUT]),
        ]

    return Step(
        name=job.name,
        inputs=job.inputs,
        outputs=job.outputs,
        log=job.log("log"),
        words=words,
        modules=job.modules,
        version=job.stage.version,
        threads=job.resources.threads,
        gpus=job.resources.gpus,
        megabytes=job.resources.megabytes,
        constraints=job.constraints,
        minutes=job.stage.minutes,
    )


def find_tasks(
    steps: Sequence[Step], targets: Iterable[str], machine: Machine, exists: Callable[[str], bool]
) -> list[Task]:
    """Return the tasks that make the targets, each after those that make its inputs.

    Parameters
    ----------
    exists
        Function of a path that no step makes: whether it is a file of the user.

    Raises
    ------
    MacroscopeError
        If an input is neither made by a step nor a file of the user.
    """
    made_by: dict[str, Task | None] = {}
    ordered: list[Task] = []

    def visit(path: str) -> None:
        if path in made_by:
            return
        step, wildcards = next(((s, w) for s in steps if (w := s.match(path)) is not None), (None, None))
        if step is None or wildcards is None:
            if not exists(path):
                raise MacroscopeError(
                    f"{path}: no such file, and only the workflow makes it; run the config with snakemake"
                )
            made_by[path] = None
            return
        task = step.task(wildcards, machine)
        made_by.update(dict.fromkeys(task.outputs, task))
        for name in task.inputs:
            visit(name)
        ordered.append(task)

    for target in targets:
        visit(target)
    return ordered


def _compile(pattern: str, constraints: Mapping[str, str]) -> "re.Pattern[str]":
    seen: set[str] = set()

    def group(match: "re.Match[str]") -> str:
        name = match[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{constraints.get(name, '.+')})"

    parts = re.split(r"({\w+})", pattern)
    return re.compile(
        "".join(_WILDCARD.sub(group, part) if part.startswith("{") else re.escape(part) for part in parts)
    )


def _fill_input(given: Any, wildcards: TaskWildcards) -> Any:
    value = given(wildcards) if callable(given) else given
    if isinstance(value, str):
        return value if callable(given) else wildcards.fill(value)
    return list(value)


def _value(given: Any, wildcards: Any) -> Any:
    return given(wildcards) if callable(given) else given


def _flat(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from [value] if isinstance(value, str) else value
