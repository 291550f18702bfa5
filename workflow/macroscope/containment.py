"""Containment of plug-in packages: an error of their code is theirs, whatever it raises, and names the package."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import format_exception
from types import TracebackType

from macroscope.errors import MacroscopeError

OWN = "macroscope"
"""Top-level package of this project; plug-ins have others."""
GROUPS = ("macroscope.sources", "macroscope.systems", "macroscope.critics")
"""Groups of entry points by which plug-in packages declare sources, kinds of systems and critics."""


class PluginError(MacroscopeError):
    """An error of a plug-in package's code; `__cause__` is the original exception.

    Attributes
    ----------
    traceback
        The part of its traceback that is in the package and in what it called, for its authors; "" if there is none.
    """

    def __init__(self, sentence: str, traceback: str = "") -> None:
        super().__init__(sentence)
        self.traceback = traceback


def is_own(module: str) -> bool:
    """Return whether a module or package is a part of this project."""
    return _root(module) == OWN


def name_distribution(package: str) -> str:
    """Return the name of the installed distribution that declares a plug-in package, or the package's own name."""
    root = _root(package)
    return next((point.dist.name for point in plugin_points() if _root(point.module) == root and point.dist), root)


@contextmanager
def contain_import(failure: str) -> Iterator[None]:
    """Turn whatever the import of a plug-in's module raises, an exit included, into a `PluginError`.

    Parameters
    ----------
    failure
        Beginning of the message, with the names of the package and of the module.
    """
    try:
        yield
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as error:
        sentence = f"{failure} cannot be imported ({describe(error)}); repair or uninstall it"
        raise PluginError(sentence, _locate(error)[1]) from error


@contextmanager
def blame_plugins() -> Iterator[None]:
    """Turn an error, or an exit, that passed through a plug-in's code into a `PluginError`.

    Sentences about bad input (`MacroscopeError`) pass unchanged: a plug-in may raise them, too.
    """
    try:
        yield
    except (KeyboardInterrupt, MacroscopeError):
        raise
    except BaseException as error:
        place, traceback = _locate(error)
        if not place:
            raise
        raise PluginError(
            f"{place} failed ({describe(error)}); this is an error of that package, not of macroscope: repair it,"
            " report it to its authors, or uninstall it",
            traceback,
        ) from error


def describe(error: BaseException) -> str:
    """Describe an exception in a few words."""
    if isinstance(error, SystemExit):
        return f"it ends the program, with status {error.code}"
    if isinstance(error, ImportError):
        return str(error)
    return ": ".join(part for part in (type(error).__name__, str(error)) if part)


def _locate(error: BaseException) -> tuple[str, str]:
    """Return where an error passed through a plug-in's code: in words, and as the traceback from there on.

    Returns
    -------
    tuple
        Package, module, line and function of the plug-in's last frame, and the traceback from its first one; "" and
        "" if the error did not pass through a plug-in.
    """
    entries = list(_entries(error.__traceback__))
    foreign = {_root(module) for _, module in entries} - {OWN, "typer"} - sys.stdlib_module_names
    # Most errors stay in our code, and the list of the installed packages takes some time to read.
    plugins = foreign & {_root(point.module) for point in plugin_points()} if foreign else set()
    inside = [(entry, module) for entry, module in entries if _root(module) in plugins]
    if not inside:
        return "", ""
    last, module = inside[-1]
    code = last.tb_frame.f_code
    where = f"{Path(code.co_filename).name}, line {last.tb_lineno}, in {code.co_name}"
    lines = format_exception(type(error), error, inside[0][0], chain=False)
    return f"the installed package {name_distribution(module)} ({module}: {where})", "".join(lines).rstrip()


def _entries(traceback: TracebackType | None) -> Iterator[tuple[TracebackType, str]]:
    """Yield the entries of a traceback with the names of their modules."""
    while traceback is not None:
        yield traceback, str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next


def plugin_points() -> list[EntryPoint]:
    """Return the entry points of all plug-in packages."""
    return [point for group in GROUPS for point in entry_points(group=group)]


def _root(module: str) -> str:
    return module.partition(".")[0]
