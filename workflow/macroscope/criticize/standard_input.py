"""Texts from the standard input, `-`: a file beside the output folder, which the workflow can read again."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from macroscope.errors import UsageError
from macroscope.files import atomic

STANDARD_INPUT = Path("-")
SUFFIX = ".standard-input"


@contextmanager
def without_standard_input(
    candidates: Sequence[Path], reference: Sequence[Path] = ()
) -> Iterator[tuple[list[Path], list[Path]]]:
    """Yield the candidates and the reference with a temporary file in place of the standard input.

    It is for commands that read their texts once and keep none; see `store_standard_input`.
    """
    with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
        paths = _replace([*candidates, *reference], Path(folder) / "stdin")
        yield paths[: len(candidates)], paths[len(candidates) :]


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
    place = output.resolve()
    return _replace(paths, place.with_name(place.name + SUFFIX))


def _replace(paths: Sequence[Path], file: Path) -> list[Path]:
    if list(paths).count(STANDARD_INPUT) > 1:
        raise UsageError("-: the standard input is given twice; give it once, and a file otherwise")
    if STANDARD_INPUT in paths:
        with atomic(file) as temporary, temporary.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
    return [file if path == STANDARD_INPUT else path for path in paths]
