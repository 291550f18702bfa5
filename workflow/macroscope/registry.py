"""Discovery of built-in and plug-in sources, kinds of systems and critics.

A source, a kind of system or a critic is a folder whose `__init__` holds a declaration (`SOURCE`, `KIND`, `CRITIC`):
data, with nothing heavy imported. Sub-packages and installed packages with a declaration are discovered; there is no
list of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.abc import SourceLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from macroscope.errors import MacroscopeError, contain_import, name_distribution, nearest
from macroscope.stages import Stage, load, module_of

D = TypeVar("D")
T = TypeVar("T")


@dataclass(frozen=True)
class Plugin(Generic[D]):
    """A discovered source, kind of system or critic.

    Attributes
    ----------
    name
        Name in the config: that of its folder or entry point.
    package
        Dotted name of the package that declares it.
    data
        The declaration.
    """

    name: str
    package: str
    data: D

    @cached_property
    def options(self) -> type[Any]:
        """Return the model of its options, without importing the code that it runs."""
        return load(self.data.options, self.package)  # type: ignore[attr-defined]

    @property
    def default_options(self) -> Any:
        """Return the options of a critic that a config does not name.

        Raises
        ------
        MacroscopeError
            If an option has no default, or an invalid one; only a plug-in's can.
        """
        try:
            return self.options()
        except ValidationError as error:
            first = error.errors()[0]
            raise MacroscopeError(
                f"the installed package {name_distribution(self.package)}, '{self.name}': the option"
                f" '{'.'.join(map(str, first['loc']))}' has no valid default ({first['msg']}); give it one, or"
                " uninstall it"
            ) from None

    def stage(self, name: str) -> Stage:
        """Return a stage by its name.

        Raises
        ------
        MacroscopeError
            If it declares no such stage.
        """
        stages: Mapping[str, Stage] = self.data.all_stages  # type: ignore[attr-defined]
        if name not in stages:
            raise MacroscopeError(f"{self.name} has no stage '{name}'{nearest(name, stages)}")
        return stages[name]


def discover(room: str, constant: str, kind: type[D], group: str | None = None) -> dict[str, Plugin[D]]:
    """Return all plugins of a type by name, in alphabetical order.

    Parameters
    ----------
    room
        Package whose sub-packages are searched ("macroscope.critics").
    constant
        Name of the declaration in a sub-package's `__init__`; sub-packages without it are skipped.
    kind
        Type of the declaration.
    group
        Group of entry points by which other packages declare plugins; an entry point's value is the package, or the
        package and the constant ("macroscope_questions:CRITIC").

    Raises
    ------
    MacroscopeError
        If another package's declaration cannot be imported, has the wrong type, or has a name that is taken.
    """
    plugins: dict[str, Plugin[D]] = {}
    for module in iter_modules(import_module(room).__path__):
        dotted = f"{room}.{module.name}"
        if module.ispkg or _declares(dotted, constant):
            data = getattr(import_module(dotted), constant, None)
            if isinstance(data, kind):
                plugins[module.name] = Plugin(module.name, dotted, data)
    for point in sorted(entry_points(group=group), key=lambda point: point.name) if group else ():
        if point.name in plugins:
            raise MacroscopeError(
                f"the installed package {_distribution(point)} declares '{point.name}' in {group}, and"
                f" {plugins[point.name].package} is called so already; rename its entry point, or uninstall it"
            )
        plugins[point.name] = Plugin(point.name, point.module, _load(point, constant, kind))
    return dict(sorted(plugins.items()))


def require(name: str, declared: Mapping[str, T], what: str) -> T:
    """Return a plugin, or another declaration, by name.

    Raises
    ------
    MacroscopeError
        If there is none of that name, with the nearest name.
    """
    if name not in declared:
        raise MacroscopeError(f"there is no {what} '{name}'{nearest(name, declared)}")
    return declared[name]


def _load(point: EntryPoint, constant: str, kind: type[D]) -> D:
    declares = (
        f"the installed package {_distribution(point)} declares '{point.name}' in {point.group}, and {point.value}"
    )
    with contain_import(declares):
        data = getattr(import_module(point.module), point.attr or constant)
    if not isinstance(data, kind):
        raise MacroscopeError(f"{declares} is not a {kind.__name__}; see docs/extending.md")
    for where in _references(data):
        with contain_import(f"{declares} names {where}, which"):
            is_there = _exists(where, point.module)
        if not is_there:
            raise MacroscopeError(f"{declares} names {where}, which does not exist; repair or uninstall it")
    return data


def _references(data: Any) -> Iterator[str]:
    for value in vars(data).values():
        several = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else (value,)
        texts = (item.run if isinstance(item, Stage) else item for item in several)
        yield from (text for text in texts if isinstance(text, str) and re.fullmatch(r"[\w.]*:\w+", text))


def _exists(where: str, package: str) -> bool:
    """Return whether a module has a name, or may have it: it is read, and not imported, which may take long."""
    spec, name = find_spec(module_of(where, package)), where.partition(":")[2]
    if spec is None or not isinstance(spec.loader, SourceLoader):
        return spec is not None
    text = spec.loader.get_source(spec.name) or ""
    return bool(re.search(rf"\b{re.escape(name)}\b|\bimport \*|\b__getattr__\b", text))


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"


def _declares(module: str, constant: str) -> bool:
    """Return whether a module's text has a declaration, so that the room's other modules need not be imported."""
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and isinstance(spec.loader, SourceLoader) else None
    return source is not None and f"\n{constant} = " in source
