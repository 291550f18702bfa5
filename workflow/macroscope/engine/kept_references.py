"""Kept references: what jobs made of real texts alone, in one file, without the texts.

A kept reference is a zip archive. `reference.json` describes it; the other files are outputs of jobs, by their paths in
the folder of a run. A run that is given one makes no such output: it takes those of the archive, and its jobs do the
rest. So its numbers are those that the texts would give.
"""

import json
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from macroscope.engine.redaction import Passages, Rules, redact
from macroscope.engine.tasks import Task
from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import atomic, to_json
from macroscope.readers.reading import KEPT_SUFFIX

_HEADER = "reference.json"
COMMANDS = "commands"
"""Folder of what commands without a run need, beside the outputs of jobs."""
FORMAT = 2
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of the files in an archive: the same reference gives the same bytes."""
_BUILD = "build it again with `macroscope reference build`"
_OF_CORPUS = ("extract_documents", "prepare_documents", "generate_control")
"""Rules whose words name the user's files; the archive has their options."""


@dataclass(frozen=True)
class KeptReference:
    """A kept reference.

    Attributes
    ----------
    path
        Path of the archive.
    digest
        Digest of its content.
    header
        What `reference.json` says: `outputs`, path -> recipe of its job, and what the builder says of the texts.
    """

    path: Path
    digest: str
    header: Mapping[str, Any]

    @property
    def recipes(self) -> Mapping[str, Sequence[str]]:
        """Return path of an output -> name and recipe of the task that made it."""
        recipes: Mapping[str, Sequence[str]] = self.header["outputs"]
        return recipes

    @property
    def of_jobs(self) -> list[str]:
        """Return the paths of the outputs of jobs."""
        return [output for output in self.recipes if not output.startswith(COMMANDS)]

    def lay(self, folder: Path, outputs: Collection[str]) -> None:
        """Write outputs into the folder of a run, in the place of those that are there."""
        for output in outputs:
            if (folder / output).is_dir():
                shutil.rmtree(folder / output)
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
            chosen = [name for name in names if any(name == each or name.startswith(f"{each}/") for each in outputs)]
            archive.extractall(folder, chosen)

    def gives_output(self, task: Task, output: str) -> bool:
        """Return whether the archive has an output of a task; see `gives`."""
        return self.gives(task.name, task.recipe, output)

    def gives(self, name: str, recipe: Sequence[str], output: str) -> bool:
        """Return whether the archive has an output of a task or a command.

        Parameters
        ----------
        recipe
            Version and words with which the task or the command would make it.

        Raises
        ------
        MacroscopeError
            If it would be made with another option, seed or version.
        """
        if output not in self.recipes:
            return False
        maker, version, *words = self.recipes[output]
        if name in _OF_CORPUS or [maker, version, *words] == [name, *recipe]:
            return True
        if version != recipe[0]:
            problem = f"version {version} of '{name}' made it, and this macroscope has version {recipe[0]}"
        else:
            pairs = zip_longest(words, recipe[1:], fillvalue="nothing")
            differing = [f"{mine} instead of {its}" for its, mine in pairs if its != mine]
            problem = f"'{name}' would run with {'; '.join(differing)}"
        raise MacroscopeError(f"{self.path}: {problem}; give the options with which it was built, or {_BUILD}")


def is_kept(path: Path | str) -> bool:
    """Return whether a path is that of a kept reference, by its name."""
    return str(path).endswith(KEPT_SUFFIX)


def read_kept(path: Path) -> KeptReference:
    """Read the description of a kept reference.

    Raises
    ------
    MacroscopeError
        If the file is damaged, or another version of macroscope wrote it.
    """
    if not path.exists():
        raise no_such_file(path)
    return _read(path.resolve(), path.stat().st_mtime_ns)


@cache
def _read(path: Path, changed: int) -> KeptReference:
    try:
        content = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
            header = {**json.loads(archive.read(_HEADER))}
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise MacroscopeError(f"{path}: a damaged file, or not a kept reference ({error}); {_BUILD}") from None
    if damaged is not None:
        raise MacroscopeError(f"{path}: damaged at {damaged}; copy it again, or {_BUILD}")
    if header.get("format") != FORMAT:
        raise MacroscopeError(
            f"{path}: written in format {header.get('format')}, and this version of macroscope reads {FORMAT}; {_BUILD}"
        )
    return KeptReference(path, blake2b(content, digest_size=16).hexdigest(), header)


def find_kept(files: Iterable[Path | str]) -> KeptReference | None:
    """Return the kept reference among the files of real texts; None if they are the texts."""
    return next((read_kept(Path(path)) for path in files if is_kept(path)), None)


# ---- building --------------------------------------------------------------------------------------------------------


def outputs_for(tasks: Sequence[Task], is_later: Callable[[Task], bool]) -> dict[str, Sequence[str]]:
    """Return path -> name and recipe, of what later tasks, and those that need them, read of what the others make.

    Parameters
    ----------
    tasks
        Tasks of a run, each after those that make its inputs.
    is_later
        Function of a task: whether it is a later one, such as the one that makes the samples of a candidate.
    """
    later, makers = set[str](), {output: task for task in tasks for output in task.outputs}
    read: dict[str, Sequence[str]] = {}
    for task in tasks:
        if is_later(task) or not later.isdisjoint(task.inputs):
            later.update(task.outputs)
            earlier = [name for name in task.inputs if name not in later and name in makers]
            read |= {name: [makers[name].name, *makers[name].recipe] for name in earlier}
    return read


def write_kept(
    path: Path,
    folder: Path,
    outputs: Mapping[str, Sequence[str]],
    about: Mapping[str, Any],
    passages: Passages,
    rules_of: Callable[[str], Rules] = lambda output: Rules(),
) -> None:
    """Write a kept reference.

    Parameters
    ----------
    folder
        Folder of the run that made the outputs.
    outputs
        See `outputs_for`.
    about
        What else its description says.
    passages
        Passages of the texts, none of which may be in it.
    rules_of
        Function of an output that returns the rules of its redaction.

    Raises
    ------
    MacroscopeError
        If a passage would be in it.
    """
    with TemporaryDirectory() as scratch, atomic(path) as temporary:
        for output in outputs:
            redact(folder / output, Path(scratch) / output, rules_of(output))
        (Path(scratch) / _HEADER).write_text(to_json({"format": FORMAT, **about, "outputs": outputs}), encoding="utf-8")
        files = sorted(file for file in Path(scratch).rglob("*") if file.is_file())
        for file in files:
            shows_words = "text" in rules_of(str(file.relative_to(scratch))).keep
            if not shows_words and (passage := passages.find(file)) is not None:
                raise MacroscopeError(
                    f"{file.relative_to(scratch)}: it would hold words of the texts ({passage!r}); leave its critic out"
                )
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                entry = zipfile.ZipInfo(str(file.relative_to(scratch)), _DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())
