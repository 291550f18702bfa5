"""Paths among the arguments of a command: checks before anything is read or written."""

import os
from collections.abc import Iterator, Sequence

from macroscope.errors import MacroscopeError
from macroscope.files import require_regular

LONGEST_PATH = 1000
"""Bytes of the longest argument that may be a path; longer ones are options."""
_OUTPUTS = {"--output": ("",), "--junit": ("",), "--record": ("",), "--log": ("",), "--figure": (".svg", ".pdf")}
"""Flags of what is written -> what the names of its files have behind their values."""
_TEXTS = ("--candidate", "--reference", "--real")
"""Flags of texts, of whose folders all files are read."""


def require_paths(arguments: Sequence[str]) -> None:
    """Check the paths among arguments, which may stand after a name and "="."""
    outputs: dict[str, str] = {}
    inputs: set[str] = set()
    texts: dict[str, str] = {}
    for flag, path in _paths(arguments):
        if flag != "--log":
            require_regular(path)
        if flag not in _OUTPUTS:
            inputs.add(os.path.realpath(path))
            if flag in _TEXTS and "gate" not in arguments:  # whose candidate is a run
                texts[os.path.realpath(path)] = path
        for file in (path + suffix for suffix in _OUTPUTS.get(flag, ())):
            if os.path.realpath(file) in outputs:
                raise MacroscopeError(f"{file}: two outputs have this path; give another one")
            outputs[os.path.realpath(file)] = file
    for place, output in outputs.items():
        if place in inputs and not os.path.isdir(place):
            raise MacroscopeError(f"{output}: an output, and another argument names this file, too; give another path")
        for text, given in texts.items():
            if text.startswith(place + os.sep):
                raise MacroscopeError(
                    f"{given}: is in the output {output}, which may hold nothing else; give another output"
                )
            if place.startswith(text + os.sep):
                raise MacroscopeError(f"{output}: is in {given}, whose files are texts; give a path outside of it")


def _paths(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what may be a path, with the flag before it; "" if it has none."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name, sign, value = argument.partition("=")
        if sign and name in (*_OUTPUTS, *_TEXTS):
            before, argument, value = name, value, ""
        for path in (argument, value if before not in _OUTPUTS else ""):
            if path and not path.startswith("--") and len(os.fsencode(path)) <= LONGEST_PATH:
                yield before if before.startswith("--") else "", path
