"""The fingerprint of code: what changes it, and what does not."""

import ast
import shutil

import pytest

from macroscope import fingerprint as module
from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY
from macroscope.fingerprint import closure, fingerprint
from macroscope.plan import Plan

STAGE = '''
"""What the stage does."""

import logging
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from toy.progress import Failure, progress
from toy.shared import constants
from toy.tables import Table

if TYPE_CHECKING:
    from toy.heavy import Heavy

log = logging.getLogger("toy")


class Options(BaseModel):
    """Options."""

    size: int = 3
    """How big."""


def scores(values: list[float], heavy: "Heavy", table: Table) -> Any:
    """Score.

    Returns
    -------
    list.
    """
    from toy.formula import square

    total: float = 0.0
    for value in progress(values, "score", unit="values"):
        total += square(value) * constants.WEIGHT
    if total < 0:
        raise Failure(f"{total} is negative; " + "give other values")
    log.info("total %f", total)
    return total
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Folder of a package with a stage, and what it imports; `progress` is exempt."""
    folder = tmp_path / "toy"
    files = {
        "__init__.py": "VERSION = 1",
        "stage.py": STAGE,
        "progress.py": "class Failure(Exception): ...\ndef progress(items, text, unit): yield from items",
        "shared/__init__.py": "WORD = 'one'",
        "shared/constants.py": "WEIGHT = 2",
        "formula.py": "def square(x, power=2):\n    return x**power",
        "heavy.py": "class Heavy: ...",
        "tables.py": "class Table: ...",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "EXEMPT", ("toy.progress",))
    monkeypatch.setattr(module, "WORDING", ("toy.progress",))
    forget()
    yield folder
    forget()


def forget():
    """Read everything anew: a process takes each file's fingerprint once."""
    for function in vars(module).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def of_stage(*resources):
    forget()
    return fingerprint(["toy.stage"], resources)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    from toy.formula", "    # a comment\n\n    from toy.formula"),
        ("What the stage does.", "What it does."),
        ("    Returns\n    -------\n    list.\n", ""),
        ('    """Options."""\n', ""),
        ('    """How big."""\n', '    """How large."""\n'),
        ("values: list[float]", "values: tuple[int, ...]"),
        ("total: float = 0.0", "total = 0.0"),
        ("    size: int = 3", "    size: float = 3"),
        ('    log.info("total %f", total)\n', ""),
        ('log.info("total %f", total)', 'log.warning("in all: %f", total)'),
        ('log = logging.getLogger("toy")', 'log = logging.getLogger("another")'),
        ('"score", unit="values"', '"count scores", unit="scores"'),
        ('"score", unit="values"', 'f"{len(values)} scores"'),
        ('f"{total} is negative; " + "give other values"', '"negative"'),
        ("from toy.heavy import Heavy", "from toy.tables import Table as Heavy"),
        ("from toy.progress import Failure, progress", "from toy.progress import progress, Failure"),
    ],
)
def test_what_changes_no_number_changes_nothing(toy, old, new):
    before = of_stage()
    edit(toy / "stage.py", old, new)
    assert of_stage() == before


def test_an_annotation_takes_its_import_with_it(toy):
    before = of_stage()
    edit(toy / "stage.py", "-> Any", "-> Iterator[float]")
    edit(toy / "stage.py", "from typing import TYPE_CHECKING, Any", "from typing import TYPE_CHECKING")
    edit(toy / "stage.py", "import logging\n", "import logging\nfrom collections.abc import Iterator\n")
    assert of_stage() == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("stage.py", "total += square", "total -= square"),
        ("stage.py", "size: int = 3", "size: int = 4"),
        ("stage.py", "    size: int = 3", "    length: int = 3"),
        ("stage.py", "    size: int = 3", "    size: int"),
        ("stage.py", "total < 0", "total <= 0"),
        ("stage.py", "progress(values,", "progress(values[1:],"),
        ("shared/constants.py", "2", "3"),
        ("formula.py", "power=2", "power=3"),
        ("formula.py", "x**power", "x**power + 1"),
    ],
)
def test_what_computes_changes_it(toy, file, old, new):
    before = of_stage()
    edit(toy / file, old, new)
    assert of_stage() != before


@pytest.mark.parametrize("file", ["progress.py", "shared/__init__.py", "__init__.py", "heavy.py", "tables.py"])
def test_what_is_not_computed_with_changes_nothing(toy, file):
    before = of_stage()
    (toy / file).write_text("SOMETHING = 'else'")
    assert of_stage() == before


def test_closure(toy):
    assert closure(("toy.stage",)) == ("toy.formula", "toy.shared.constants", "toy.stage")


def test_a_package_counts_where_a_name_is_imported_from_it(toy):
    edit(toy / "stage.py", "from toy.shared import constants", "from toy.shared import WORD, constants")
    assert "toy.shared" in closure(("toy.stage",))


def test_relative_imports_are_followed(toy):
    edit(toy / "stage.py", "from toy.formula import square", "from .formula import square")
    edit(toy / "stage.py", "from toy.shared import constants", "from .shared import constants")
    assert closure(("toy.stage",)) == ("toy.formula", "toy.shared.constants", "toy.stage")


def test_models_that_fields_are_of_are_followed(toy):
    edit(toy / "stage.py", "    size: int = 3", "    size: int = 3\n    table: Table | None = None")
    assert "toy.tables" in closure(("toy.stage",))


def test_a_package_of_somebody_else_is_followed_into_macroscope(toy):
    edit(
        toy / "stage.py",
        "    total: float",
        "    from macroscope.statistics.p_values import permutation_test\n    t: float",
    )
    names = closure(("toy.stage",))
    assert "toy.formula" in names
    assert "macroscope.statistics.p_values" in names


def test_resources_count_by_content(toy, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "list.txt").write_text("one")
    first = of_stage(tmp_path / "a" / "list.txt")
    assert first != of_stage()
    assert first == of_stage(str(tmp_path / "b" / "list.txt"))
    (tmp_path / "a" / "list.txt").write_text("two")
    assert first != of_stage(tmp_path / "a" / "list.txt")
    with pytest.raises(MacroscopeError, match=r"none\.txt: no such file"):
        of_stage(tmp_path / "none.txt")


def test_a_copy_elsewhere_has_the_same_fingerprint(toy, tmp_path, monkeypatch):
    before = of_stage()
    shutil.copytree(toy, tmp_path / "macroscope" / "toy")
    monkeypatch.syspath_prepend(tmp_path / "macroscope")
    edit(toy / "formula.py", "x**power", "0")  # so that it is seen which of the two is read
    assert of_stage() == before


def test_missing_and_broken_modules_are_clear_errors(toy):
    with pytest.raises(MacroscopeError, match=r"no module 'toy\.nothing'"):
        fingerprint(["toy.nothing"])
    with pytest.raises(MacroscopeError, match="no module 'nothing_at_all'"):
        fingerprint(["nothing_at_all"])
    (toy / "formula.py").write_text("def square(x:\n")
    with pytest.raises(MacroscopeError, match=r"formula\.py, line 1"):
        of_stage()


def test_the_code_of_a_stage_of_ours():
    config = {
        "corpora": {"c": {"source": "files", "files": ["x"]}},
        "comparisons": [{"corpus": "c", "critics": ["coherence"]}],
    }
    projection = closure(tuple(Plan(parse_config(config)).critics.modules("coherence", "project")))
    assert {"macroscope.critics.coherence.classifier", "macroscope.documents"} <= set(projection)
    assert "macroscope.critics.coherence.scoring" not in projection
    assert "macroscope.progress" not in projection
    assert not any(name.startswith(("macroscope.systems.", "macroscope.reporting.")) for name in projection)


def test_what_parsing_gave_is_kept_until_the_content_changes(toy, monkeypatch):
    before = of_stage()
    with monkeypatch.context() as patched:
        patched.delattr(module.ast, "parse")
        assert of_stage() == before
        edit(toy / "formula.py", "x**power", "x**power + 1")
        with pytest.raises(AttributeError):
            of_stage()
    assert of_stage() != before


def test_empty_bodies_stay_bodies(toy):
    before = of_stage()
    edit(toy / "stage.py", "    log.info", "    if total > 9:\n        log.info('big')\n    log.info")
    after = of_stage()
    edit(toy / "stage.py", "log.info('big')", "pass")
    assert before != after == of_stage()


def from_imports(name):
    """Names that a module of ours imports from others."""
    nodes = ast.walk(ast.parse(module._path(name).read_text()))
    return {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


@pytest.mark.slow
def test_no_module_reexports_names_that_it_imports_only_for_annotations():
    root = REPOSITORY / "workflow"
    paths = [path.relative_to(root).with_suffix("") for path in (root / "macroscope").rglob("*.py")]
    ours = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    passed_on = {
        (source, name) for importer in ours for source, names in module._module(importer).imports for name in names
    }
    for source in set(ours) - set(module.EXEMPT):
        followed = {name for _, names in module._module(source).imports for name in names}
        for name in from_imports(source) - followed:
            assert (source, name) not in passed_on, f"import {name} from where it is, not from {source}"
