"""The manifest of a run: what each finished task was made from, so that the next run does only what is left.

The key of a task is a digest of its recipe, of the content of the user's files that it reads, and of the keys of the
tasks that make its other inputs. A task is done if its outputs exist and the manifest has its key. No date counts: a
text that was edited and has an older date is seen.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from macroscope.engine.tasks import Task

FILE = "manifest.jsonl"
"""Name of the file, in the folder of a run's results: a line per change, so that a kill loses nothing."""


class Manifest:
    """The keys of the finished tasks of a run.

    Parameters
    ----------
    folder
        Folder that the paths of the tasks are relative to.
    file
        Path of the manifest in it.
    tasks
        All tasks of the run, each after those that make its inputs.
    content
        Function of the path of a user's file or folder, relative to `folder`, that returns a digest of its content.
    """

    def __init__(self, folder: Path, file: str, tasks: Sequence[Task], content: Callable[[str], str]) -> None:
        self._folder, self._file = folder, folder / file
        self._keys = _keys_of(tasks, content)
        self._noted = _read(self._file)

    def is_done(self, task: Task) -> bool:
        """Return whether a task has made its outputs from what they would be made from now."""
        return self._noted.get(task.outputs[0]) == self._keys[task.outputs[0]] and all(
            (self._folder / output).exists() for output in task.outputs
        )

    def forget(self, task: Task) -> None:
        """Note that a task begins, or has to run again: what it leaves when it is killed does not count."""
        if self._noted.get(task.outputs[0]):
            self._note(task.outputs[0], "")

    def record(self, task: Task) -> None:
        """Note that a task has made its outputs."""
        self._note(task.outputs[0], self._keys[task.outputs[0]])

    def _note(self, output: str, key: str) -> None:
        self._noted[output] = key
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps([output, key], ensure_ascii=False) + "\n")


def _keys_of(tasks: Sequence[Task], content: Callable[[str], str]) -> dict[str, str]:
    """Return output -> key of its task."""
    keys: dict[str, str] = {}
    for task in tasks:
        sources = [keys[path] if path in keys else content(path) for path in task.inputs]
        words = json.dumps([task.name, task.recipe, task.inputs, sources])
        key = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        keys.update(dict.fromkeys(task.outputs, key))
    return keys


def _read(file: Path) -> dict[str, str]:
    """Read the last key of each output; a line that a kill left unfinished does not count."""
    noted: dict[str, str] = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                output, key = json.loads(line)
                noted[output] = key
    return noted
