"""Samples of an `.eval` file of inspect_ai: a zip with a JSON file per sample."""

import re
import zipfile
from pathlib import Path
from typing import Any

from macroscope.corpora.archives import open_member, open_zip, read_member
from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.corpora.files.formats.inspect_ai import SAMPLES
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json

LOG_SUFFIX = ".eval"
_NUMBER = re.compile(r"\d+")


def is_log(path: Path) -> bool:
    """Return whether a file is a zip with samples of inspect_ai."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(_is_sample(name) for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return False


def open_log(path: Path) -> Rows:
    """Return the samples of a log."""
    return Rows("sample", lambda _: _read(path))


def _read(path: Path) -> NumberedRows:
    with open_zip(path) as archive:
        names = sorted(filter(_is_sample, archive.namelist()), key=_natural)
        for number, name in enumerate(names, start=1):
            with open_member(archive, path, name) as stream:
                sample = parse_json(read_member(stream, f"{path}, {name}"), f"{path}, {name}", "")
            if not isinstance(sample, dict):
                raise MacroscopeError(f"{path}, {name}: is a {type(sample).__name__}, not a sample; write it again")
            yield number, sample


def _is_sample(name: str) -> bool:
    return name.startswith(f"{SAMPLES}/") and name.endswith(".json")


def _natural(name: str) -> Any:
    """Return a key that sorts "sample 10" after "sample 9"."""
    return [int(number) for number in _NUMBER.findall(name)], name
