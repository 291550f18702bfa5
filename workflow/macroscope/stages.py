"""Stages: the steps of a source, a kind of system or a critic, declared as data.

A declaration names the function that runs, what it reads and which options it looks at; nothing is imported until the
stage runs. From it follow the rule's inputs and resources, what the numbers' signature holds, which code is tracked,
and how `macroscope <room> run` calls the function.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from macroscope.errors import MacroscopeError, nearest
from macroscope.files import RESOURCES

VALUES: dict[str, type] = {
    "corpus": str,
    "system": str,
    "language": str,
    "kind_of_process": str,
    "order": str,
    "split": str,
    "task": str,
    "name": str,
    "signature": str,
    "encoder": str,
    "seed": int,
    "threads": int,
    "processes": int,
    "shard": int,
    "shards": int,
    "confidence": float,
    "resampling": dict,
    "checkpoints": Path,
    "evidence": Path,
}
"""What a stage may read that is no file: a name and its type. Everything else that it reads is a file or a folder."""

MACHINE = frozenset({"threads", "processes"})
"""Those of them that the machine gives, and no config: they change no result."""

COLLECTIONS = frozenset({"files", "shards_of_samples", "all_latents", "detectors", "retrieved"})
"""Inputs of any number of files: the function is given a list."""

NO_NAME = "(?!)"
"""A wildcard constraint that matches no name: a rule for what the config does not use."""


Function = Callable[..., Any]
"""An input or parameter function of a rule."""


class Wildcards(Protocol):
    """The wildcards of a job: their values are attributes, named as in the rule's output."""

    def __getattr__(self, name: str) -> str: ...


@dataclass(frozen=True)
class Stage:
    """One step, as data.

    Attributes
    ----------
    run
        "module:function"; the module is relative to the package that declares the stage, unless it begins with
        "macroscope.", for functions that several share. The function is called with
        what it `inputs`, each by its name, with `options` where it `options` any, and with `output`, the path to write.
    inputs
        Names of its inputs and of the values of the run that it looks at, of a fixed vocabulary: the values are
        `VALUES`, the inputs are listed where the room plans its jobs (`plan.critics`, `plan.systems`). A "?" behind a
        name says that the input may not be there; the function is then given None.
    options
        Names of the options that it looks at; the function sees all others at their defaults.
    model_option
        Name of the option that names a pretrained model: its memory, threads and GPUs are the job's.
    megabytes, minutes, threads
        What a job asks for otherwise.
    folder
        Whether the output is a folder.
    beside
        Names of the files that it writes in the folder of its output, besides: of a stage `draw` of systems.
    resources
        Names of the files and folders of the project's resources that it reads: an edit of these re-runs it.
    when
        "option=value": the stage takes part only where that option has that value; "" where it always does.
    """

    run: str
    inputs: str = ""
    options: str = ""
    model_option: str = ""
    megabytes: int = 2000
    minutes: int = 60
    threads: int = 1
    folder: bool = False
    beside: str = ""
    resources: str = ""
    when: str = ""

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the files and folders that it reads."""
        return tuple(name.rstrip("?") for name in self.inputs.split() if name not in VALUES)

    @property
    def optional_inputs(self) -> tuple[str, ...]:
        """Names of those that may not be there."""
        return tuple(name.rstrip("?") for name in self.inputs.split() if name.endswith("?"))

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the values that it reads."""
        return tuple(name for name in self.inputs.split() if name in VALUES)

    @property
    def option_names(self) -> tuple[str, ...]:
        """Names of the options that it looks at."""
        return tuple(self.options.split())

    @property
    def resource_files(self) -> list[str]:
        """Paths of the files of the project's resources that it reads."""
        places = [RESOURCES / name for name in self.resources.split()]
        return [str(path) for place in places for path in (sorted(place.iterdir()) if place.is_dir() else [place])]

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """(option, value) of its condition."""
        name, sign, value = self.when.partition("=")
        return ((name, value),) if sign else ()

    def takes_part(self, options: Any) -> bool:
        """Whether the stage runs under these options."""
        return all(str(getattr(options, name)) == value for name, value in self.conditions)

    def module(self, package: str) -> str:
        """Dotted name of the module whose function runs."""
        return module_of(self.run, package)

    def function(self, package: str) -> Callable[..., Any]:
        """Import the function that runs."""
        return load(self.run, package)


def module_of(where: str, package: str) -> str:
    """Return the dotted name of the module in "module:name".

    The module is relative to `package`, unless it begins with "macroscope."; ":name" is in `package` itself.
    """
    module = where.partition(":")[0]
    if module.startswith("macroscope."):
        return module
    return f"{package}.{module}" if module else package


def load(where: str, package: str) -> Any:
    """Import "module:name" of a package, or of this one where the module is a full name."""
    return getattr(import_module(module_of(where, package)), where.partition(":")[2])


def arguments(stage: Stage, inputs: Iterable[str], values: Iterable[str], also: Iterable[str] = ()) -> dict[str, Any]:
    """Arguments of a stage's function from what the command line gives.

    Parameters
    ----------
    inputs, values
        "name=path" and "name=value"; an input of `COLLECTIONS` may be given any number of times.
    also
        Names of values that are given besides those that the stage reads.

    Raises
    ------
    MacroscopeError
        Where something is missing that the stage reads, or given that it does not read.
    """
    found: dict[str, Any] = {name: [] for name in stage.input_names if name in COLLECTIONS}
    found |= {name: None for name in stage.optional_inputs if name not in COLLECTIONS}
    for name, path in _pairs(inputs, "--input", stage.input_names):
        if name in COLLECTIONS:
            found[name].append(Path(path))
        else:
            found[name] = Path(path)
    for name, value in _pairs(values, "--value", (*stage.value_names, *also)):
        found[name] = _parsed(name, value)
    missing = [name for name in (*stage.input_names, *stage.value_names, *also) if name not in found]
    if missing:
        flag = "--value" if missing[0] in VALUES else "--input"
        raise MacroscopeError(f"{flag}: the stage reads '{missing[0]}'; give {flag} {missing[0]}=...")
    return found


def run_stage(
    stage: Stage, package: str, options: Any, inputs: Iterable[str], values: Iterable[str], output: Path
) -> None:
    """Call a stage's function with what the command line gives; see `arguments`.

    Parameters
    ----------
    options
        What the stage uses of its options.
    """
    given = arguments(stage, inputs, values)
    if stage.options:
        given["options"] = options
    stage.function(package)(**given, output=output)


def flags(name: str, pairs: Mapping[str, Any]) -> list[str]:
    """What `run_stage` parses, as words of a command line: ["--input", "documents=a.parquet", ...]."""
    words = []
    for key, value in pairs.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            words += [name, f"{key}={json.dumps(item, sort_keys=True) if isinstance(item, dict) else item}"]
    return words


def input_flags(stage: Stage) -> Callable[..., list[str]]:
    """Parameter function of a rule: the inputs that its stage reads, as `arguments` parses them, and cores and GPUs.

    None of these re-runs a finished job as a parameter: inputs do so by themselves, and the others change no result.
    """

    def words(wildcards: Wildcards, input: Any, threads: int, resources: Any) -> list[str]:
        files = {name: input[name] for name in stage.input_names if name in input.keys()}  # noqa: SIM118 - it has also items
        machine = {"threads": threads, "processes": resources.get("gpu", 0)}
        return flags("--input", files) + flags("--value", {n: v for n, v in machine.items() if n in stage.value_names})

    return words


def repeated_flag(flag: str, name: str) -> Function:
    """Parameter function of a rule: a flag for each file of an input, none where there is no such input."""
    return lambda wildcards, input: [word for file in input.get(name, []) for word in (flag, file)]


def as_json(options: Any, names: Iterable[str]) -> str:
    """Those options that are named, as JSON: what a stage looks at."""
    return json.dumps(options.model_dump(mode="json", include=set(names)), sort_keys=True, ensure_ascii=False)


def alternatives(names: Iterable[str]) -> str:
    """Wildcard constraint: one of these names."""
    return "|".join(re.escape(name) for name in names) or NO_NAME


def _pairs(given: Iterable[str], flag: str, known: Iterable[str]) -> Iterable[tuple[str, str]]:
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign:
            raise MacroscopeError(f"{flag} {pair}: give it as NAME=...")
        if name not in known:
            raise MacroscopeError(f"{flag} {pair}: the stage reads no '{name}'{nearest(name, known)}")
        yield name, value


def _parsed(name: str, text: str) -> Any:
    kind = VALUES[name]
    try:
        if kind is dict:
            from macroscope.statistics.latent import Resampling

            return Resampling(**json.loads(text))
        return kind(text)
    except (ValueError, TypeError):
        raise MacroscopeError(f"--value {name}={text}: not what '{name}' is ({kind.__name__})") from None
