"""The user's files among the inputs of jobs: known by their content, never by their time.

Copies with `cp -p`, `rsync -a` or `tar` keep old times, and other clocks give future ones. So the digest of the content
is a parameter of each rule that reads such a file, and the workflow ignores its time.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b, file_digest
from itertools import chain
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.jobs import Job
from macroscope.stages import Function, Wildcards

NOTE = Path(".snakemake") / "macroscope_digests.json"
"""File with the digests of large files, in the working directory."""
LARGE = 1 << 26
"""Bytes of a file from which its digest is noted; smaller files are read again in less than a tenth of a second."""
_SETTLED_SECONDS = 2.0
"""Age of a file's last change from which its digest is noted: two changes may have one time in that of a file system's
clock."""

Source = str | Iterable[str] | Function
"""Input of a rule: a path, paths, or a function of the wildcards that returns these."""


class UserFiles:
    """The user's files, which no job makes.

    Parameters
    ----------
    made
        Folders of the files that jobs make or retrieve ("results/default"); everything else is the user's.

    Attributes
    ----------
    flag
        Function that marks a path whose time does not count; the rules set it to Snakemake's `ancient`.
    """

    def __init__(self, made: Iterable[str]) -> None:
        self.made = tuple(f"{folder}/" for folder in made)
        self.flag: Callable[[str], str] = str
        self._digests = Digests()

    def inputs(self, job: Job) -> Mapping[str, Source]:
        """Return the inputs of a job's rule."""
        users = {name: self.undated(source) for name, source in _sources(job).items()}
        return {**job.inputs, **users, **{name: self.flag(str(job.inputs[name])) for name in job.order_only}}

    def contents_of(self, job: Job) -> Function:
        """Return a parameter function: the digest of the user's files that a job reads."""
        return self.contents(*_sources(job).values())

    def undated(self, source: Source) -> Function:
        """Return an input function: the source, with the user's files marked if they are on this machine."""

        def marked(path: str) -> str:
            if not self._is_users(path) or not os.path.exists(path):
                return path
            require_past(path)
            return self.flag(path)

        def paths(wildcards: Wildcards) -> str | list[str]:
            given = source(wildcards) if callable(source) else source
            return marked(given) if isinstance(given, str) else [marked(path) for path in given]

        return paths

    def contents(self, *sources: Source) -> Function:
        """Return a parameter function: the digest of the user's files among the sources; "" if there are none."""
        return lambda wildcards: self.digest(chain.from_iterable(_paths(source, wildcards) for source in sources))

    def digest(self, paths: Iterable[str]) -> str:
        """Return a digest of the names and contents of the user's files among paths, and in folders among these."""
        return self._digests(*(path for path in paths if self._is_users(path)))

    def _is_users(self, path: str) -> bool:
        return not path.startswith(self.made)


def _sources(job: Job) -> dict[str, Source]:
    """Return the inputs of a job that may be the user's files; a path with wildcards is a result."""
    named = {name: job.inputs[name] for name in job.user_inputs if name in job.inputs}
    return {name: source for name, source in named.items() if not isinstance(source, str)}


def _paths(source: Source, wildcards: Wildcards) -> Iterable[str]:
    paths = source(wildcards) if callable(source) else source
    return [paths] if isinstance(paths, str) else paths


class Digests:
    """Digests of files, each read once by a process, and large ones once by all.

    A noted digest counts as long as the file's identity, size, and the time of its last change as the system keeps it
    (ctime, which no copy or `touch` sets) are the same.

    Parameters
    ----------
    folder
        Folder that paths are relative to, in which the digests of large files are noted.
    """

    def __init__(self, folder: Path = Path()) -> None:
        self._folder, self._note = folder, folder / NOTE
        self._noted: dict[str, list[Any]] | None = None
        self._read: dict[tuple[str, tuple[int, ...]], str] = {}
        self._is_changed = False

    def __call__(self, *paths: str) -> str:
        """Return a digest of the names and contents of files, and of those in folders; "" if there are none."""
        files = [entry for path in paths for entry in self._entries(os.path.join(self._folder, path))]
        self._save()
        return blake2b(repr(files).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if files else ""

    def _entries(self, path: str) -> list[tuple[str, str]]:
        """Return the (path below a folder, digest) of a file or of the files in a folder, which may move."""
        if not os.path.isdir(path):
            return [("", self._of_file(path))] if os.path.isfile(path) else []
        below = (os.path.join(root, name) for root, _, inside in os.walk(path) for name in inside)
        return [(os.path.relpath(file, path), self._of_file(file)) for file in sorted(below) if os.path.isfile(file)]

    def _of_file(self, path: str) -> str:
        state = _state(path)
        key = (os.path.abspath(path), state)
        if key not in self._read:
            self._read[key] = self._large(*key) if state[2] >= LARGE else _content(path)
        return self._read[key]

    def _large(self, path: str, state: tuple[int, ...]) -> str:
        if self._noted is None:
            self._noted = _read_note(self._note)
        match self._noted.get(path):
            case [digest, noted] if noted == list(state):
                return str(digest)
        digest = _content(path)
        if time.time() - state[-1] / 1e9 > _SETTLED_SECONDS and _state(path) == state:
            self._noted[path] = [digest, list(state)]
            self._is_changed = True
        return digest

    def _save(self) -> None:
        """Note the new digests of large files, if the working directory can be written."""
        if self._is_changed and self._noted is not None:
            self._is_changed = False
            with suppress(OSError):  # the next call reads the files again
                write_json(self._note, self._noted)


def _state(path: str) -> tuple[int, ...]:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read_note(note: Path) -> dict[str, list[Any]]:
    try:
        noted = read_json(note)
    except (MacroscopeError, OSError):
        return {}  # there is none yet, or it is not ours
    return noted if isinstance(noted, dict) else {}


def _content(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return file_digest(stream, lambda: blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise MacroscopeError(f"{path}: cannot be read ({error.strerror}); give a file that can") from None


log = logging.getLogger("macroscope")

_STEP = 1000
"""Nanoseconds between the new dates of files, which keep their order; Snakemake compares microseconds."""


def redate_future_files(folders: Iterable[str]) -> None:
    """Date files that are dated in the future to now, in their order."""
    now = time.time_ns()
    paths = (Path(root, name) for folder in folders for root, _, names in os.walk(folder) for name in names)
    future = sorted((date, path) for path in paths if (date := path.lstat().st_mtime_ns) > now)
    for number, (_, path) in enumerate(future, 1):
        date = now - _STEP * (len(future) - number)
        os.utime(path, ns=(date, date), follow_symlinks=False)
    if future:
        others = f" and {len(future) - 1} more" if len(future) > 1 else ""
        log.warning("%s%s: dated in the future; from now on, of today", future[0][1], others)


def require_past(path: str) -> None:
    """Check that a file of the user is not dated in the future, which Snakemake takes for a fault of the clocks."""
    if os.path.getmtime(path) > time.time():
        raise MacroscopeError(f"{path}: dated in the future, so that its results count as old; run `touch {path}`")
