"""Search for a damaged Parquet file among a failed command's arguments: libraries do not name it."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_LONGEST_PATH = 1000
"""Bytes of the longest argument that may be a path; longer ones are options."""


def may_be_of_damage(error: BaseException) -> bool:
    """Return whether a damaged Parquet file may have caused an error; errors of the system have a number."""
    is_arrow = type(error).__module__.startswith("pyarrow")
    return is_arrow or (isinstance(error, OSError) and error.errno is None)


def damaged_file(arguments: Iterable[str]) -> tuple[Path, str] | None:
    """Return the first damaged file among a command's arguments, or in a folder among them, and the error."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in _parquet_files(arguments):
        try:
            with pq.ParquetFile(path) as file:
                for _ in file.iter_batches():
                    pass
        except (pa.ArrowException, OSError) as error:
            return path, str(error).strip().partition("\n")[0]
    return None


def _parquet_files(arguments: Iterable[str]) -> Iterator[Path]:
    """Yield the Parquet files that arguments name, as they are or after a name and "="."""
    for argument in arguments:
        for text in dict.fromkeys((argument, argument.partition("=")[2])):
            if not text or len(os.fsencode(text)) > _LONGEST_PATH:
                continue
            path = Path(text)
            if path.suffix == ".parquet" and path.is_file():
                yield path
            elif path.is_dir():
                yield from sorted(path.rglob("*.parquet"))
