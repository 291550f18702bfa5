"""What is found by itself: the sub-packages of a room, and other people's packages, that declare what they are.

A source, a kind of system or a critic is a folder whose `__init__` holds a declaration (`SOURCE`, `KIND`, `CRITIC`):
data, with nothing heavy imported. There is no list of them anywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.abc import SourceLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from macroscope.errors import MacroscopeError, nearest
from macroscope.stages import Stage, load

D = TypeVar("D")


@dataclass(frozen=True)
class Plugin(Generic[D]):
    """Something that was found.

    Attributes
    ----------
    name
        As the config has it: the name of its folder, or of its entry point.
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
        """Model of its options, without importing what it runs."""
        return load(self.data.options, self.package)  # type: ignore[attr-defined]

    def stage(self, name: str) -> Stage:
        """A stage by its name.

        Raises
        ------
        MacroscopeError
            Where it declares no such stage.
        """
        stages: Mapping[str, Stage] = self.data.stages  # type: ignore[attr-defined]
        if name not in stages:
            raise MacroscopeError(f"{self.name} has no stage '{name}'{nearest(name, stages)}")
        return stages[name]


def discover(room: str, constant: str, kind: type[D], group: str | None = None) -> dict[str, Plugin[D]]:
    """Everything of a kind, in alphabetical order.

    Parameters
    ----------
    room
        Package whose sub-packages are looked through ("macroscope.critics").
    constant
        Name of the declaration in a sub-package's `__init__`; sub-packages without it are something else.
    kind
        Type of the declaration.
    group
        Group of entry points by which other packages declare theirs; an entry point's value is the package, or the
        package and the constant ("macroscope_questions:CRITIC").

    Raises
    ------
    MacroscopeError
        Where another package's declaration cannot be imported, is none, or takes a name that is there already.
    """
    found: dict[str, Plugin[D]] = {}
    for module in iter_modules(import_module(room).__path__):
        dotted = f"{room}.{module.name}"
        if module.ispkg or _declares(dotted, constant):
            data = getattr(import_module(dotted), constant, None)
            if isinstance(data, kind):
                found[module.name] = Plugin(module.name, dotted, data)
    for point in sorted(entry_points(group=group), key=lambda point: point.name) if group else ():
        if point.name in found:
            raise MacroscopeError(
                f"the installed package {_distribution(point)} declares '{point.name}' in {group}, and"
                f" {found[point.name].package} is called so already; rename its entry point, or uninstall it"
            )
        found[point.name] = Plugin(point.name, point.module, _load(point, constant, kind))
    return dict(sorted(found.items()))


def require(name: str, found: Mapping[str, Plugin[D]], what: str) -> Plugin[D]:
    """Look something up by name.

    Raises
    ------
    MacroscopeError
        That names the nearest one.
    """
    if name not in found:
        raise MacroscopeError(f"there is no {what} '{name}'{nearest(name, found)}")
    return found[name]


def _load(point: EntryPoint, constant: str, kind: type[D]) -> D:
    try:
        data = getattr(import_module(point.module), point.attr or constant)
    except Exception as error:  # whatever another package's import may raise
        raise MacroscopeError(
            f"the installed package {_distribution(point)} declares '{point.name}' in {point.group}, and"
            f" {point.value} cannot be imported ({error}); repair or uninstall it"
        ) from error
    if not isinstance(data, kind):
        raise MacroscopeError(
            f"the installed package {_distribution(point)} declares '{point.name}' in {point.group}, and {point.value}"
            f" is no {kind.__name__}; see docs/extending.md"
        )
    return data


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"


def _declares(module: str, constant: str) -> bool:
    """Read a module's text for a declaration, so that the room's other modules are not imported."""
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and isinstance(spec.loader, SourceLoader) else None
    return source is not None and f"\n{constant} = " in source
