"""The raw files of a corpus as parts, each extracted by a job of its own."""

import re
from collections.abc import Iterable
from pathlib import Path

from macroscope.corpora.retrieval import RemoteSource
from macroscope.corpora.splits import named_split
from macroscope.errors import MacroscopeError


def data_files(source: RemoteSource, splits: Iterable[str], place: str) -> list[str]:
    """Where the files of a source are kept; of those with a split in their names, only the ones of these splits.

    Parameters
    ----------
    place
        Where the config asks for them, for the error when there is none.
    """
    wanted = {None, *splits}
    files = [file.name for file in source.files if named_split(file.name) in wanted]
    if not files:
        raise MacroscopeError(
            f"{place}.splits: {source.name!r} has no file for {', '.join(splits)}; give another split"
        )
    return [f"data/{source.name}/{source.version}/{file}" for file in files]


def named_parts(files: Iterable[str]) -> dict[str, str]:
    """Number the parts: file names may repeat, and may hold what a wildcard must not."""
    return {
        f"{number:03d}-{re.sub(r'[^A-Za-z0-9]+', '-', Path(file).name).strip('-')}": file
        for number, file in enumerate(files)
    }
