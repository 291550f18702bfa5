"""Modules that a test module imports when it is read, found by patterns: nothing is imported or parsed."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from macroscope.files import REPOSITORY

ROOTS = {"macroscope": REPOSITORY / "workflow", "tests": REPOSITORY}
"""Top-level packages whose modules are followed, and the folders that they are in."""
_IMPORT = re.compile(
    r"^(?:import (?P<module>[\w.]+)|from (?P<base>[\w.]+) import (?P<names>\([^)]*\)|.*))", re.MULTILINE
)
"""An import at the beginning of a line: those of functions and of types are indented."""


def imported_packages(path: Path) -> set[str]:
    """Return the top-level packages that a module, and all modules that it imports from this repository, import."""
    reached, waiting, packages = {path}, [path], set[str]()
    while waiting:
        imported, files = _reads(waiting.pop())
        packages |= imported
        waiting += files - reached
        reached |= files
    return packages


@cache
def _reads(path: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """Return the top-level packages that a file imports, and the files of this repository that it reads for that."""
    names = frozenset(_names(path))
    packages = frozenset(name.partition(".")[0] for name in names)
    return packages, frozenset(file for name in names for file in _files(name))


def _names(path: Path) -> Iterator[str]:
    for match in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        base = match["module"] or _absolute(match["base"], path)
        yield base
        yield from (f"{base}.{name}" for name in re.findall(r"\w+", match["names"] or ""))


def _absolute(name: str, path: Path) -> str:
    """Return the absolute name of a module that a test imports by a relative one."""
    inner = name.lstrip(".")
    if inner == name:
        return name
    package = path.relative_to(REPOSITORY).parts[: -(len(name) - len(inner))]
    return ".".join([*package, *filter(None, [inner])])


@cache
def _files(name: str) -> tuple[Path, ...]:
    """Return the files that an import of a name reads: of the packages that it is in, and its own."""
    parts = name.split(".")
    if parts[0] not in ROOTS:
        return ()
    places = [ROOTS[parts[0]].joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    files = [file for place in places for file in (place / "__init__.py", place.with_suffix(".py"))]
    return tuple(file for file in files if file.is_file())
