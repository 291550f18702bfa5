"""Architecture: allowed imports between rooms, circles, sizes of modules, and the import time of the command line."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from macroscope.corpora import sources
from macroscope.critics import critics
from macroscope.files import REPOSITORY
from macroscope.options import CONTROL
from macroscope.systems import kinds

PACKAGE = REPOSITORY / "workflow" / "macroscope"
HOUSE_WORDS = {"files"}
"""Names with another meaning in general code: corpora and systems read files, too."""
GROUND = "ground"
"""Place of the modules that are in no room."""
FLOORS = [
    {GROUND},
    {"execution", "natural_language", "statistics"},
    {"readers"},
    {"corpora"},
    {"systems"},
    {"critics"},
    {"config"},
    {"runs"},
    {"reporting"},
    {"plan"},
    {"engine"},
    {"gate", "timelines", "criticize"},
    {"copies", "human", "ranking", "sameness", "sensitivity", "sentences"},
    {"cli", "api"},
]
"""Rooms from the ground up: a module imports from its own room and from floors below, for types, too."""
LEAVES = {"copies", "gate", "human", "ranking", "sameness", "sensitivity", "sentences", "timelines"}
"""Rooms that only `cli` and `api` import: nobody needs them to understand the core."""


@cache
def modules() -> dict[str, Path]:
    """Return all modules by their dotted names."""
    paths = {
        ".".join(("macroscope", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in PACKAGE.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): path for name, path in paths.items() if not name.endswith("__main__")}


@cache
def imports(name: str) -> frozenset[str]:
    """Return the modules that a module imports anywhere: in functions and for types, too."""
    imported = set()
    for node in ast.walk(ast.parse(modules()[name].read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            imported |= {dotted if dotted in modules() else node.module for dotted in names}
    return frozenset(imported & {*modules()} - {name})


def room(name: str) -> str:
    """Return the room of a module."""
    first = name.split(".")[1] if "." in name else ""
    return first if (PACKAGE / first).is_dir() and first else GROUND


def floor(name: str) -> int:
    """Return the number of a module's floor."""
    return next(number for number, rooms in enumerate(FLOORS) if room(name) in rooms)


@pytest.mark.parametrize("name", sorted(modules()))
def test_modules_import_from_their_own_room_and_from_floors_below(name):
    upward = {imported for imported in imports(name) if room(imported) != room(name) and floor(imported) >= floor(name)}
    assert not upward


def test_only_cli_and_api_import_a_leaf():
    faces = {"cli", "api"}
    arrows = {(room(name), room(imported)) for name in modules() for imported in imports(name)}
    assert {(first, leaf) for first, leaf in arrows if leaf in LEAVES and first not in faces | {leaf}} == set()


def test_no_modules_import_each_other_in_a_circle():
    try:
        TopologicalSorter({name: imports(name) for name in modules()}).prepare()
    except CycleError as error:
        pytest.fail(f"circle: {' -> '.join(error.args[1])}")


def test_modules_stay_readable():
    long = {path: n for path in PACKAGE.rglob("*.py") if (n := len(path.read_text().splitlines())) > 400}
    assert not long


@pytest.mark.parametrize("arguments", [["--help"], ["statistics", "test", "--help"]])
def test_help_starts_without_heavy_imports(arguments):
    code = (
        f"import sys; sys.argv = ['macroscope', *{arguments!r}]\n"
        "from macroscope.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'pandas', 'scipy', 'matplotlib', 'sklearn'} & set(sys.modules)\n"
        "print('HEAVY', sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("HEAVY []")


def test_the_package_imports_at_once_and_its_public_names_when_they_are_used():
    code = (
        "import sys, macroscope\n"
        "print(sorted(name for name in sys.modules if name.startswith('macroscope.')))\n"
        "print({'compare', 'Comparison', 'MacroscopeError'} - {*dir(macroscope)}, hasattr(macroscope, 'no_name'))\n"
        "print(macroscope.MacroscopeError.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "set() False", "MacroscopeError"]


GENERAL = [
    *(PACKAGE / name for name in ("cli", "config", "gate", "plan", "reporting", "registry.py", "stages.py")),
    PACKAGE / "jobs.py",
    *(path for path in (REPOSITORY / "workflow" / "rules").glob("*.smk") if path.stem not in critics()),
    REPOSITORY / "workflow" / "report",
    REPOSITORY / "Snakefile",
]
"""Files that must not name any critic, source or kind of system."""


@pytest.mark.parametrize("declared", [critics, sources, kinds], ids=lambda declared: declared.__name__)
def test_no_general_file_names_a_critic_a_source_or_a_kind(declared):
    names = "|".join(set(declared()) - {CONTROL, *HOUSE_WORDS})
    words = re.compile(f"""["']({names})["']""")
    for place in GENERAL:
        for path in [place] if place.is_file() else place.rglob("*.*"):
            if path.suffix in (".py", ".smk", ".jinja", ".rst") or path.name == "Snakefile":
                named = words.findall(path.read_text())
                assert not named, f"{path.relative_to(REPOSITORY)} names {named}"
