"""Rows of Parquet files from elsewhere, read in bounded memory, with errors that name the file."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError

_ROWS_AT_ONCE = 256
_BYTES_AT_ONCE = 1 << 20  # instead of a row group, which may be as large as the file


def read_numbered_rows(
    path: Path, wanted: Collection[str], required: str | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the rows of a file with their numbers (from 1).

    Parameters
    ----------
    wanted
        Names of the columns to read; others are ignored, whatever they hold.
    required
        Name of a column that must exist.

    Raises
    ------
    MacroscopeError
        If the file is not Parquet, is damaged, or lacks the required column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    number = 0
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BYTES_AT_ONCE) as file:
            columns = [name for name in file.schema_arrow.names if name in wanted]
            if required is not None and required not in columns:
                raise MacroscopeError(f"{path}: no column '{required}'; give a file with this column of texts")
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{path}, after row {number:,}: a text is not valid UTF-8 ({error.reason})") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise MacroscopeError(f"{path}: not a readable Parquet file ({reason}); write or download it again") from None
