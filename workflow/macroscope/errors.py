"""The exception for bad inputs: the only one of this package that is meant for users."""

import difflib
import errno
import os
import re
from collections.abc import Iterable

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
