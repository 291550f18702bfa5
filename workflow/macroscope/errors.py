"""The exception for bad inputs, the only one meant for users; containment of the errors of plug-in packages."""

import difflib
import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import format_exception
from types import TracebackType

FAILED = "macroscope: error: "
"""Beginning of the sentence about a bad input, in a job's log."""
UNEXPECTED = "macroscope: unexpected error"
"""Line before the traceback of a defect, in a job's log."""
IN_PART = 5
"""Exit status of a run that reports what finished, without what failed."""
_LONGEST = 2000
"""Most characters of a sentence: it may quote a name or an id of any length."""
_MOST_NAMES = 10_000
"""Most names of a folder among which one is sought that is similar to a missing file's."""
_ADVICE = {
    errno.ENOSPC: "free some and run the same command again",
    errno.EDQUOT: "free some and run the same command again",
    errno.EFBIG: "raise the limit of the size of files (ulimit -f), or give a place without one",
    errno.EACCES: "change its permissions, or give another place",
    errno.EPERM: "change its permissions, or give another place",
    errno.EROFS: "give a place that can be written",
    errno.ENOTDIR: "give a place below a folder",
    errno.EISDIR: "give a file",
    errno.EEXIST: "give another place",
    errno.ENAMETOOLONG: "give a shorter name",
}
"""Errors of the system that a user can repair -> advice."""
_OTHER_ADVICE = "repair it, or give another place"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BREAKS = re.compile(r"\s*[\r\n]\s*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Characters that move a terminal's cursor, change its state or reverse its text, and those that XML cannot hold."""


def escape_controls(text: str, kept: str = "") -> str:
    """Return a text that is safe for a terminal: control characters are escaped, except for those in `kept`."""
    return _CONTROL.sub(lambda m: m[0] if m[0] in kept else m[0].encode("unicode_escape").decode(), text)


class MacroscopeError(Exception):
    """A bad input: one sentence that says what is wrong, where, and what to do.

    The command line prints it without a traceback and exits with its status. It is always one line, of bounded length,
    and safe for a terminal, whatever it quotes: control characters, marks of direction and lone surrogates are escaped.
    """

    status = 1
    """Exit status of the command line."""

    def __init__(self, sentence: str) -> None:
        if len(sentence) > _LONGEST:
            sentence = f"{sentence[: 3 * _LONGEST // 4]} … {sentence[-_LONGEST // 4 :]}"
        super().__init__(escape_controls(_BREAKS.sub(" ", sentence)))


class UsageError(MacroscopeError):
    """A wrong argument of a command, with the status of usage errors everywhere."""

    status = 2


def nearest(word: str, valid: Iterable[str]) -> str:
    """Hint at the valid name nearest to a misspelt one.

    Returns
    -------
    str
        "; did you mean 'corpora'?", or the list of valid names if none is near.
    """
    names = sorted(valid)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; valid here: {', '.join(names)}" if names else ""


def no_such_file(path: str | os.PathLike[str]) -> MacroscopeError:
    """Return the error about a file or folder that does not exist; it names a similar one beside it."""
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return MacroscopeError(f"{path}: no such file or folder, nor is there a folder {folder}; give another path")
    close = difflib.get_close_matches(name, os.listdir(folder or ".")[:_MOST_NAMES], n=1, cutoff=0.8)
    advice = f"did you mean '{os.path.join(folder, close[0])}'?" if close else "give another path"
    return MacroscopeError(f"{path}: no such file or folder; {advice}")


def describe_system_error(error: BaseException) -> str | None:
    """Return a sentence about an error of the operating system that a user can repair; None for other errors."""
    if isinstance(error, OSError) and error.errno is not None and (error.filename or error.errno in _ADVICE):
        return f"{error.filename or 'the disk'}: {error.strerror}; {_ADVICE.get(error.errno, _OTHER_ADVICE)}"
    # Libraries that write files raise their own errors, which quote the system's message.
    quoted = (number for number in _FULL if not isinstance(error, OSError) and os.strerror(number) in str(error))
    return next((f"the disk: {os.strerror(number)}; {_ADVICE[number]}" for number in quoted), None)


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
    while traceback is not None:
        yield traceback, str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next


def plugin_points() -> list[EntryPoint]:
    """Return the entry points of all plug-in packages."""
    return [point for group in GROUPS for point in entry_points(group=group)]


def _root(module: str) -> str:
    return module.partition(".")[0]
