"""Texts from the standard input, `-`: a file beside the output folder, which the workflow can read again."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from macroscope.errors import UsageError
from macroscope.files import atomic

STANDARD_INPUT = Path("-")
SUFFIX = ".standard-input"


def store_standard_input(paths: Sequence[Path], output: Path) -> list[Path]:
    """Return paths with a file in place of the standard input, which is copied there.

    Parameters
    ----------
    paths
        Paths of files and folders; at most one is `STANDARD_INPUT`.
    output
        Output folder. The file is beside it, under its name with `SUFFIX`: a folder with results is written as a whole.

    Raises
    ------
    UsageError
        If the standard input is given twice.
    """
    if list(paths).count(STANDARD_INPUT) > 1:
        raise UsageError("-: the standard input is given twice; give it once, and a file otherwise")
    place = output.resolve()
    file = place.with_name(place.name + SUFFIX)
    if STANDARD_INPUT in paths:
        with atomic(file) as temporary, temporary.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
    return [file if path == STANDARD_INPUT else path for path in paths]
