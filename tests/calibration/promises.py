"""Declared tuples of statistics, from the source and from the critics."""

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


@cache
def declared_tuples() -> dict[str, tuple[Statistic, ...]]:
    """Return every tuple of statistics by "module:NAME": those that a critic names, and those that a module defines."""
    tuples = {}
    for critic in critics().values():
        for place in critic.data.statistics:
            tuples[f"{module_of(place, critic.package)}:{place.partition(':')[2]}"] = load(place, critic.package)
    for place in _in_source():
        tuples[place] = getattr(import_module(place.partition(":")[0]), place.partition(":")[2])
    return tuples


def _in_source() -> Iterator[str]:
    """Yield module-level names whose value is made with `Statistic(...)`, as "module:NAME"."""
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
def _cases() -> dict[str, Case]:
    """Return every case by the name of its module, from the modules of `cases`."""
    names = sorted(module.name for module in iter_modules([str(Path(cases_package.__file__).parent)]))
    modules = [f"{cases_package.__name__}.{name}" for name in names]
    return {module: import_module(module).CASE for module in modules}


def all_cases() -> tuple[Case, ...]:
    """Return every case."""
    return tuple(_cases().values())


def module_of_case(case: Case) -> str:
    """Return the dotted name of the module that defines a case."""
    return next(module for module, candidate in _cases().items() if candidate is case)


def find_case(declared: str) -> Case | None:
    """Return the case of a tuple; None if it has none."""
    for case in all_cases():
        if case.declared == declared:
            return case
    return None
