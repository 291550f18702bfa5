"""Messages in a Python caller's words: arguments in place of options, and texts in place of the files they are kept in.

The readers speak of the options of `macroscope criticize`. Texts that are given as objects are written to files, whose
paths say nothing to the caller.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from macroscope.errors import MacroscopeError

_AS_THEY_ARE = (
    *("text-field", "prompt-field", "id-field", "reference-field", "model-field"),
    *(
        "separator",
        "join",
        "straighten-typography",
        "keep-wrappers",
        "detokenize",
        "encoder",
        "device",
        "language",
        "matched-length",
        "reference",
    ),
)
ARGUMENTS = {name: name.replace("-", "_") for name in _AS_THEY_ARE} | {
    "candidate": "candidates",
    "critic": "critics",
    "output": "keep",
}
"""Option of the command -> argument of `compare`."""
_NAMES = "|".join(sorted(ARGUMENTS, key=len, reverse=True))
_NAMED_CRITIC = re.compile(r"--critic (\S+):")
_WITH_VALUE = re.compile(rf"(?:--(separator)|(?<=for example )--({_NAMES})) (\S+?)(?=[,;.)]*(?:\s|$))")
_OPTION = re.compile(rf"--({_NAMES})(?![\w-])")
_COLLECTIONS = {"reference": "reference", "candidate": "candidates", "texts": "texts"}
"""Name of a file that is written for the caller -> argument that it holds."""


def make_translator(folder: Path) -> Callable[[str], str]:
    """Return a function that puts a message into the words of a caller.

    Parameters
    ----------
    folder
        Folder of the files that are written for the caller.
    """
    places = "|".join(sorted({re.escape(str(folder)), re.escape(str(folder.resolve()))}, key=len, reverse=True))
    file = re.compile(rf"(?:{places})/([\w.-]*\w)(?:, line (\d+))?")

    def name_argument(match: re.Match[str]) -> str:
        path = folder / match[1]
        if path.is_symlink():
            return f"{path.readlink()}{f', line {match[2]}' if match[2] else ''}"
        stem = match[1].removesuffix(".jsonl").removesuffix(".parquet")
        name = _COLLECTIONS.get(stem, f"candidates[{stem!r}]")
        return f"{name}[{int(match[2]) - 1}]" if match[2] else name

    def translate(message: str) -> str:
        message = file.sub(name_argument, message)
        message = _NAMED_CRITIC.sub(r"critics, '\1':", message)
        message = _WITH_VALUE.sub(_assignment, message)
        return _OPTION.sub(lambda match: f"`{ARGUMENTS[match[1]]}`", message)

    return translate


def without_logs(message: str, folder: Path) -> str:
    """Return a message without the paths of logs in a temporary folder, which is gone when the caller reads it."""
    short, number = re.subn(rf" \({re.escape(str(folder))}/[^)]*\.log\)", "", message)
    return f"{short}; give `keep` a folder, and the logs stay there" if number else message


def _assignment(match: re.Match[str]) -> str:
    try:
        value = "".join(shlex.split(match[3]))
    except ValueError:  # a quotation mark without its partner
        value = match[3]
    return f"{ARGUMENTS[match[1] or match[2]]}={value!r}"


@contextmanager
def translated_errors(folder: Path) -> Iterator[Callable[[str], str]]:
    """Put errors into the words of a caller; yield the function that does so. See `make_translator`."""
    translate = make_translator(folder)
    try:
        yield translate
    except MacroscopeError as error:
        error.args = (translate(str(error)),)
        raise
