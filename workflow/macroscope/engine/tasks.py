"""Tasks: the commands of a run with their files, in an order in which each finds its inputs.

A step is a rule without Snakemake: the same job of the plan. `engine.pool` runs tasks; the workflow runs the rules.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.errors import MacroscopeError
from macroscope.jobs import Job

if TYPE_CHECKING:
    from macroscope.plan import Plan

_WILDCARD = re.compile(r"{(\w+)}")
Files = dict[str, Any]
"""Name of an input -> path or list of paths."""
IsGiven = Callable[["Task", str], bool]
"""Function of a task and one of its outputs: whether the output is given, so that no task makes it."""


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
    """A job of the plan that makes files here.

    Attributes
    ----------
    job
        The job.
    run
        Name of the run, for the place of "<run>" in paths.
    constraints
        Wildcard -> regular expression, of all jobs.
    """

    job: Job
    run: str = ""
    constraints: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _outputs(self) -> dict[str, str]:
        return {name: self._of_run(path) for name, path in self.job.outputs.items()}

    @cached_property
    def _patterns(self) -> list["re.Pattern[str]"]:
        constraints = {**self.constraints, **self.job.constraints}
        return [_compile(pattern, constraints) for pattern in self._outputs.values()]

    def match(self, path: str) -> TaskWildcards | None:
        """Return the wildcards with which this step makes a file; None if it does not."""
        for pattern in self._patterns:
            if match := pattern.fullmatch(path):
                return TaskWildcards(match.groupdict())
        return None

    def task(self, wildcards: TaskWildcards, machine: Machine) -> Task:
        """Return the task that makes the outputs with these wildcards."""
        job, requested = self.job, self.job.resources
        read = {name: given for name, given in job.inputs.items() if name not in job.order_only}
        inputs = {name: self._fill_input(given, wildcards) for name, given in read.items()}
        outputs = {name: wildcards.fill(pattern) for name, pattern in self._outputs.items()}
        uses = Machine(
            max(1, min(machine.threads, _value(requested.threads, wildcards))),
            min(machine.gpus, _value(requested.gpus, wildcards)),
            _value(requested.megabytes, wildcards),
        )
        return Task(
            name=job.name,
            words=_words(job, wildcards, inputs, outputs, uses),
            inputs=list(_flat(inputs.values())),
            outputs=list(outputs.values()),
            log=wildcards.fill(self._of_run(job.log("log"))),
            modules=job.modules_of(wildcards),
            recipe=[str(_value(job.version, wildcards)), *_words(job, wildcards, inputs, outputs, Machine(1))],
            uses=uses,
            minutes=job.stage.minutes,
        )

    def _of_run(self, path: str) -> str:
        return path.replace("<run>", self.run)

    def _fill_input(self, given: Any, wildcards: TaskWildcards) -> Any:
        value = given(wildcards) if callable(given) else given
        if isinstance(value, str):
            return value if callable(given) else wildcards.fill(self._of_run(value))
        return list(value)


def _words(job: Job, wildcards: Any, inputs: Files, outputs: Mapping[str, str], machine: Machine) -> list[str]:
    return [
        *job.command.split(),
        *job.input_flags(wildcards, inputs, machine.threads, {"gpu": machine.gpus}),
        *job.settings(wildcards),
        *job.output_flags(wildcards, outputs),
    ]


def steps_of(plan: "Plan") -> list[Step]:
    """Return the steps of the jobs of a run."""
    return [Step(job, plan.config.run, plan.constraints()) for job in plan.jobs()]


def tasks_of(
    plan: "Plan", machine: Machine, folder: Path, targets: Iterable[str], is_given: IsGiven | None = None
) -> list[Task]:
    """Return the tasks that make files of a run, in an order in which each finds its inputs.

    Parameters
    ----------
    folder
        Folder of the run, which the plan's paths are relative to.
    is_given
        See `find_tasks`.
    """
    return find_tasks(steps_of(plan), targets, machine, lambda path: (folder / path).exists(), is_given)


def find_tasks(
    steps: Sequence[Step],
    targets: Iterable[str],
    machine: Machine,
    exists: Callable[[str], bool],
    is_given: IsGiven | None = None,
) -> list[Task]:
    """Return the tasks that make the targets, each after those that make its inputs.

    Parameters
    ----------
    exists
        Function of a path that no step makes: whether it is a file of the user.
    is_given
        Function of a task and a path that it makes: whether the path is there already, and counts as the user's file.

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
        if is_given is not None and is_given(task, path):
            made_by[path] = None
            return
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


def _value(given: Any, wildcards: Any) -> Any:
    return given(wildcards) if callable(given) else given


def _flat(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from [value] if isinstance(value, str) else value
