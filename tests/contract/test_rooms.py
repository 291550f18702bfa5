"""The house: which room may import from which, and how fast the door opens."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from macroscope.corpora import sources
from macroscope.critics import critics
from macroscope.files import REPOSITORY
from macroscope.options import CONTROL
from macroscope.systems import kinds

PACKAGE = REPOSITORY / "workflow" / "macroscope"
HOUSE_WORDS = {"files"}
"""Names that general code has for something else: files are also what a corpus or a system reads."""
ROOMS = ["corpora", "systems", "critics", "statistics", "reporting"]
SHARED = {
    *("batches", "errors", "files", "progress", "documents", "models", "paths", "training", "plotting"),
    *(
        "registry",
        "stages",
        "config.options",
        "colours",
        "pretrained",
        "tables",
        "processes",
        "arrays",
        "number_format",
        "usage",
    ),
}


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree but those under `if TYPE_CHECKING:`, which never run."""
    yield tree
    is_for_types = isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING"
    for node in tree.orelse if is_for_types else ast.iter_child_nodes(tree):
        yield from executed(node)


def imports(path: Path) -> set[str]:
    """First parts below the package of everything that a module imports from it; types alone do not count."""
    found = set()
    for node in executed(ast.parse(path.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{a.name}" if node.module == "macroscope" else node.module for a in node.names]
        found |= {_place(name) for name in names if name.startswith("macroscope.")}
    return found


def _place(name: str) -> str:
    """Room or shared module of a dotted name; of the config, its options may be imported by all."""
    return "config.options" if name.startswith("macroscope.options") else name.split(".")[1]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_from_rooms_to_their_left_only(room):
    allowed = {*ROOMS[: ROOMS.index(room) + 1], "statistics", *SHARED}
    if room == "statistics":
        allowed = {"statistics", *SHARED}
    if room == "reporting":
        allowed |= {"plan", "config"}
    for path in (PACKAGE / room).rglob("*.py"):
        wrong = imports(path) - allowed - {"__version__"}
        assert not wrong, f"{path.relative_to(REPOSITORY)} imports from {sorted(wrong)}"


def test_people_stand_beside_the_rooms():
    """Sheets are drawn from corpora and systems, answers are numbers; no room needs either."""
    for path in (PACKAGE / "human").rglob("*.py"):
        wrong = imports(path) - {"human", "corpora", "systems", "statistics", "config", *SHARED}
        assert not wrong, f"{path.relative_to(REPOSITORY)} imports from {sorted(wrong)}"
    for room in ROOMS:
        for path in (PACKAGE / room).rglob("*.py"):
            assert "human" not in imports(path), path


def test_a_gate_stands_beside_the_rooms():
    """It reads what a run leaves; only the command line needs it."""
    for path in (PACKAGE / "gate").rglob("*.py"):
        wrong = imports(path) - {"gate", "critics", "statistics", "config", *SHARED, "__version__"}
        assert not wrong, f"{path.relative_to(REPOSITORY)} imports from {sorted(wrong)}"
    for path in PACKAGE.rglob("*.py"):
        if not {"gate", "cli"} & set(path.relative_to(PACKAGE).parts):
            assert "gate" not in imports(path), path


def test_shared_modules_import_from_no_room():
    for name in SHARED:
        path = PACKAGE / f"{name.replace('.', '/')}.py"
        assert imports(path) - {"statistics"} <= SHARED, name


def test_modules_stay_readable():
    long = {path: n for path in PACKAGE.rglob("*.py") if (n := len(path.read_text().splitlines())) > 400}
    assert not long


@pytest.mark.parametrize("arguments", [["--help"], ["statistics", "compare", "--help"]])
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


def test_every_rule_file_and_package_folder_carry_the_same_name():
    rules = REPOSITORY / "workflow" / "rules"
    assert {path.stem for path in rules.glob("*.smk")} == {*ROOMS, "common"}
    for room in ("systems", "critics"):  # what is unusual about a kind or a critic
        assert {path.stem for path in (rules / room).glob("*.smk")} < {path.name for path in (PACKAGE / room).iterdir()}


GENERAL = [
    *(PACKAGE / name for name in ("cli", "config", "gate", "plan", "reporting", "registry.py", "stages.py")),
    *(PACKAGE / room / "plan.py" for room in ("corpora", "systems", "critics")),
    *(REPOSITORY / "workflow" / "rules").glob("*.smk"),
    REPOSITORY / "workflow" / "report",
    REPOSITORY / "Snakefile",
]
"""Files that know no critic, no source and no kind of system by name."""


@pytest.mark.parametrize("found", [critics, sources, kinds], ids=lambda found: found.__name__)
def test_no_general_file_names_a_critic_a_source_or_a_kind(found):
    names = "|".join(set(found()) - {CONTROL, *HOUSE_WORDS})
    words = re.compile(f"""["']({names})["']""")
    for place in GENERAL:
        for path in [place] if place.is_file() else place.rglob("*.*"):
            if path.suffix in (".py", ".smk", ".jinja", ".rst") or path.name == "Snakefile":
                named = words.findall(path.read_text())
                assert not named, f"{path.relative_to(REPOSITORY)} names {named}"
