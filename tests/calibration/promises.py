"""What the package promises: every tuple of declared statistics, found in the source and through the critics."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import macroscope
from macroscope.critics import critics
from macroscope.stages import load, module_of
from macroscope.statistics.declaration import Statistic

from . import cases as cases_package
from .setting import Case

PACKAGE = Path(str(macroscope.__file__)).parent


def declared_tuples() -> dict[str, tuple[Statistic, ...]]:
    """Every tuple of statistics, by "module:NAME": those that a critic names, and those that a module makes."""
    found = {}
    for critic in critics().values():
        for where in critic.data.statistics:
            found[f"{module_of(where, critic.package)}:{where.partition(':')[2]}"] = load(where, critic.package)
    for where in _in_source():
        found[where] = getattr(import_module(where.partition(":")[0]), where.partition(":")[2])
    return found


def _in_source() -> Iterator[str]:
    """Names at the top of modules whose value is made with `Statistic(...)` or from another such name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(("macroscope", *path.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                calls = [n.func.id for n in ast.walk(node.value) if isinstance(n, ast.Call) and _is_name(n.func)]
                if "Statistic" in calls:
                    yield f"{module}:{node.targets[0].id}"


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case, from the modules of `cases`."""
    names = sorted(module.name for module in iter_modules([str(Path(cases_package.__file__).parent)]))
    return tuple(import_module(f"{cases_package.__name__}.{name}").CASE for name in names)


def case_of(where: str) -> Case | None:
    """Case of a tuple; of one that only renames another, that of the other."""
    for case in all_cases():
        if case.declared == where:
            return case
    return None
