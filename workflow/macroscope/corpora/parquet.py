"""Rows of Parquet files that other people wrote, read in bounded memory, with errors that name the file."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError

_ROWS_AT_ONCE = 256
_BYTES_AT_ONCE = 1 << 20  # not a row group, which may be as large as its file


def numbered_rows(
    path: Path, known: Collection[str], required: str | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the rows of a file with their numbers (from 1).

    Parameters
    ----------
    known
        Columns that are read; any other may hold what it likes.
    required
        A column that must be there.

    Raises
    ------
    MacroscopeError
        Where the file is no Parquet, is damaged, or has no such column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    number = 0
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BYTES_AT_ONCE) as file:
            columns = [name for name in file.schema_arrow.names if name in known]
            if required is not None and required not in columns:
                raise MacroscopeError(f"{path}: no column '{required}'; each row has a text in it")
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{path}, after row {number:,}: a text is not valid UTF-8 ({error.reason})") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise MacroscopeError(f"{path}: not a readable Parquet file ({reason}); write or download it again") from None
