"""Stages: the steps of a source, a kind of system or a critic, declared as data.

A declaration names the function that runs, its version, its inputs and its options; nothing is imported until the stage
runs. The declaration determines the inputs, resources and version of the rule, the content of the numbers' signature,
and how `macroscope <room> run` calls the function.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from macroscope.errors import MacroscopeError, contain_import, is_own, name_distribution, nearest
from macroscope.options import SCORES_ENDING

VALUES: dict[str, type] = {
    "corpus": str,
    "system": str,
    "language": str,
    "kind_of_process": str,
    "critic": str,
    "systems": list,
    "pairs": list,
    "damages": list,
    "sizes": list,
    "repeats": int,
    "order": str,
    "split": str,
    "task": str,
    "name": str,
    "signature": str,
    "encoder": str,
    "seed": int,
    "threads": int,
    "processes": int,
    "fit": int,
    "shard": int,
    "shards": int,
    "texts_shard": int,
    "texts_per_shard": int,
    "confidence": float,
    "resampling": dict,
    "checkpoints": Path,
    "evidence": Path,
    "truth": Path,
    "pages": Path,
    "logs": Path,
}
"""Name -> type of the values that a stage may read. All its other inputs are files or folders."""

MACHINE = frozenset({"threads", "processes"})
"""Values that depend on the machine, not on the config: they change no result."""

COLLECTIONS = frozenset(
    {
        *("parts", "files", "shards_of_samples", "shards_of_latents", "detectors", "retrieved", "fits"),
        *("all_texts", "all_latents", "all_scores", "all_courses", "all_statistics"),
    }
)
"""Inputs of any number of files: the function gets a list."""

ANY_NAME = rf"[^/]+(?<!{re.escape(SCORES_ENDING)})"
"""Wildcard constraint that matches any name (`options.Name`)."""
NO_NAME = "(?!)"
"""Wildcard constraint that matches no name, for rules that the config does not use."""


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
        its `inputs` by name, with `options` if it declares any, and with `output`, the path to write.
    inputs
        Names of its inputs and of the values of the run that it reads, from a fixed vocabulary: the values are
        `VALUES`, the inputs are listed in the room's plan (`plan.critics`, `plan.systems`). A "?" behind a name marks
        an optional input; if it does not exist, the function gets None.
    options
        Names of the options that it uses; the function gets the defaults of all others. "*": all of them.
    model_option
        Name of the option that names a pretrained model, which determines the job's memory, threads and GPUs.
    megabytes, minutes, threads
        Resources of a job without a pretrained model.
    folder
        Whether the output is a folder.
    beside
        Names of further files that it writes to the folder of its output; not for stages of critics.
    output
        Output of a stage that only one critic has: its path below the critic's folder of a corpus. Each name in braces
        is a key; the stage has a job for each of its values ("detectors/{task}.{detector}").
    once
        Whether such a stage runs for the critic and all its variants together.
    when
        "option=value": the stage runs only if that option has that value; "" if it always runs.
    gpu
        "option=value": a job without a pretrained model asks for a GPU if that option has that value; "" if it needs
        none.
    version
        Version of its results, 1 or more. Raise it when its code gives other results than before: the stage and all
        that depends on it run again, and runs of different versions are not compared.
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
    output: str = ""
    once: bool = False
    when: str = ""
    gpu: str = ""
    version: int = 1

    def __post_init__(self) -> None:
        require_version(self.version)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the names of the files and folders that it reads."""
        return tuple(name.rstrip("?") for name in self.inputs.split() if name not in VALUES)

    @property
    def optional_inputs(self) -> tuple[str, ...]:
        return tuple(name.rstrip("?") for name in self.inputs.split() if name.endswith("?"))

    @property
    def value_names(self) -> tuple[str, ...]:
        """Return the names of the values that it reads."""
        return tuple(name for name in self.inputs.split() if name in VALUES)

    @property
    def option_names(self) -> tuple[str, ...]:
        """Return the names of the options that it uses."""
        return tuple(self.options.split())

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the keys in its output."""
        return tuple(re.findall(r"{(\w+)}", self.output))

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Return the (option, value) of its condition, if it has one."""
        name, sign, value = self.when.partition("=")
        return ((name, value),) if sign else ()

    def takes_part(self, options: Any) -> bool:
        """Return whether the stage runs under these options."""
        return all(str(getattr(options, name)) == value for name, value in self.conditions)

    def needs_gpu(self, options: Any) -> bool:
        """Return whether a job without a pretrained model asks for a GPU under these options."""
        name, sign, value = self.gpu.partition("=")
        return bool(sign) and str(getattr(options, name)) == value

    def module(self, package: str) -> str:
        """Return the dotted name of the module whose function runs."""
        return module_of(self.run, package)

    def function(self, package: str) -> Callable[..., Any]:
        """Import the function that runs."""
        return load(self.run, package)


def require_version(version: Any) -> None:
    """Check the version in a declaration.

    Raises
    ------
    ValueError
        If it is not a whole number from 1.
    """
    if type(version) is not int or version < 1:
        raise ValueError(f"the version {version!r} is not a whole number from 1; count versions 1, 2, 3")


def describe_versions(versions: Mapping[str, int]) -> str:
    """Return the versions of stages as a part of a signature: "versions:train=1,project=2"."""
    return "versions:" + ",".join(f"{stage}={version}" for stage, version in versions.items())


def module_of(where: str, package: str) -> str:
    """Return the dotted name of the module in "module:name".

    The module is relative to `package`, unless it begins with "macroscope."; ":name" is in `package` itself.
    """
    module = where.partition(":")[0]
    if module.startswith("macroscope."):
        return module
    return f"{package}.{module}" if module else package


def load(where: str, package: str) -> Any:
    """Import "module:name" of a package, or of this one if the module is a full name.

    Raises
    ------
    PluginError
        If the module belongs to a plug-in package and cannot be imported, or has no such name.
    """
    module, name = module_of(where, package), where.partition(":")[2]
    if is_own(module):
        return getattr(import_module(module), name)
    with contain_import(f"{module}:{name} of the installed package {name_distribution(module)}"):
        return getattr(import_module(module), name)


def arguments(
    stage: Stage,
    inputs: Iterable[str],
    values: Iterable[str],
    required: Iterable[str] | None = None,
    accepted: Iterable[str] = (),
) -> dict[str, Any]:
    """Parse the arguments of a stage's function from the words of a command line.

    Parameters
    ----------
    inputs, values
        "name=path" and "name=value"; an input of `COLLECTIONS` may be given any number of times.
    required
        Names of the values that must be given; default: all values that the stage reads.
    accepted
        Names of further values that may be given.

    Raises
    ------
    MacroscopeError
        If an input or a value is missing, or if the stage does not read it.
    """
    needed = tuple(stage.value_names if required is None else required)
    given: dict[str, Any] = {name: [] for name in stage.input_names if name in COLLECTIONS}
    given |= {name: None for name in stage.optional_inputs if name not in COLLECTIONS}
    for name, path in _pairs(inputs, "--input", stage.input_names):
        if name in COLLECTIONS:
            given[name].append(Path(path))
        else:
            given[name] = Path(path)
    for name, value in _pairs(values, "--value", (*needed, *accepted)):
        given[name] = _parsed(name, value)
    missing = [name for name in (*stage.input_names, *needed) if name not in given]
    if missing:
        flag = "--value" if missing[0] in VALUES else "--input"
        raise MacroscopeError(f"{flag}: the stage reads '{missing[0]}'; give {flag} {missing[0]}=...")
    return given


def run_stage(
    stage: Stage, package: str, options: Any, inputs: Iterable[str], values: Iterable[str], output: Path
) -> None:
    """Call a stage's function with the command line's inputs and values; see `arguments`.

    Parameters
    ----------
    options
        Options that the stage uses.
    """
    given = arguments(stage, inputs, values)
    if stage.options:
        given["options"] = options
    stage.function(package)(**given, output=output)
    require_written(stage, package, output)


def require_written(stage: Stage, package: str, output: Path, evidence: Path | None = None) -> None:
    """Check that a stage wrote its output (a folder if it declares one, else a file) and what it declares beside it.

    Raises
    ------
    MacroscopeError
        If it did not; without this check, Snakemake would blame the file system.
    """
    is_folder = {output: stage.folder, **{output.with_name(name): False for name in stage.beside.split()}}
    if evidence is not None:
        is_folder[evidence] = True
    for path, folder in is_folder.items():
        if not (path.is_dir() if folder else path.is_file()):
            kind = "folder" if folder else "file"
            raise MacroscopeError(
                f"{stage.run} of {package} ended without writing the {kind} {path}; a stage must write all its outputs"
            )


def flags(name: str, pairs: Mapping[str, Any]) -> list[str]:
    """Return named values as words of a command line: ["--input", "documents=a.parquet", ...]."""
    words = []
    for key, value in pairs.items():
        several = isinstance(value, list | tuple) and VALUES.get(key) is not list
        for item in value if several else (value,):
            text = json.dumps(item, sort_keys=True) if isinstance(item, dict | list | tuple) else item
            words += [name, f"{key}={text}"]
    return words


def input_flags(stage: Stage) -> Callable[..., list[str]]:
    """Return a rule's parameter function: its stage's inputs, cores and GPUs as words of a command line.

    As parameters, none of these re-runs a finished job: inputs do so by themselves, and the others change no result.
    """

    def words(wildcards: Wildcards, input: Any, threads: int, resources: Any) -> list[str]:
        files = {name: input[name] for name in stage.input_names if name in input.keys()}  # noqa: SIM118 - `in input` tests values
        machine = {"threads": threads, "processes": resources.get("gpu", 0)}
        return flags("--input", files) + flags("--value", {n: v for n, v in machine.items() if n in stage.value_names})

    return words


def as_json(options: Any, names: Iterable[str]) -> str:
    """Return the named options as JSON, for a stage that uses only these."""
    return json.dumps(options.model_dump(mode="json", include=set(names)), sort_keys=True, ensure_ascii=False)


def alternatives(names: Iterable[str]) -> str:
    """Return a wildcard constraint that matches exactly these names."""
    return "|".join(re.escape(name) for name in names) or NO_NAME


def _pairs(given: Iterable[str], flag: str, valid: Iterable[str]) -> Iterable[tuple[str, str]]:
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign:
            raise MacroscopeError(f"{flag} {pair}: give it as NAME=...")
        if name not in valid:
            raise MacroscopeError(f"{flag} {pair}: the stage reads no '{name}'{nearest(name, valid)}")
        yield name, value


def _parsed(name: str, text: str) -> Any:
    kind = VALUES[name]
    try:
        if kind is dict:
            from macroscope.options import Resampling

            return Resampling(**json.loads(text))
        if kind is list:
            items = json.loads(text)
            if not isinstance(items, list):
                raise TypeError
            return items
        return kind(text)
    except (ValueError, TypeError):
        raise MacroscopeError(f"--value {name}={text}: not what '{name}' is ({kind.__name__})") from None
