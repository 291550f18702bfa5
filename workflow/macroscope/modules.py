"""Which modules of this package a stage runs: the inputs that make an edited module re-run its stage and no other."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from macroscope.paths import REPOSITORY

PACKAGE = "macroscope"
ROOT = REPOSITORY / "workflow"


@cache
def modules_of(module: str) -> tuple[str, ...]:
    """Files of `module` and of everything that it imports from this package, imports in function bodies included.

    The folders' own `__init__` files count only where something is imported from them by name: they register, they do
    not compute.

    Parameters
    ----------
    module
        Dotted name ("macroscope.critics.coherence.projection").

    Returns
    -------
    tuple of paths, sorted.
    """
    seen: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        path = _path(name) or _foreign_path(name)
        if path is None:
            raise ModuleNotFoundError(f"there is no module {name} under {ROOT}")
        seen[name] = path
        waiting.extend(_imports(path))
    return tuple(sorted(str(path) for path in seen.values()))


@cache
def _imports(path: Path) -> tuple[str, ...]:
    found: set[str] = set()
    for node in executed(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if _path(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            inside = [name for name in submodules if _path(name)]
            found.update(inside)
            if len(inside) < len(submodules):
                found.add(node.module)
    return tuple(sorted(found))


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree but those under `if TYPE_CHECKING:`, which never run."""
    yield tree
    is_for_types = isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING"
    for node in tree.orelse if is_for_types else ast.iter_child_nodes(tree):  # type: ignore[attr-defined]
        yield from executed(node)


def _foreign_path(module: str) -> Path | None:
    """File of another package's module, which declares a source or a kind of system."""
    spec = None if module.split(".")[0] == PACKAGE else find_spec(module)
    return Path(spec.origin) if spec and spec.origin else None


@cache
def _path(module: str) -> Path | None:
    if module.split(".")[0] != PACKAGE:
        return None
    base = ROOT / Path(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None
