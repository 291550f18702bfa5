"""Rows of Parquet files, and of Arrow's files and streams (Feather, the cache of a data set), in bounded memory."""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.errors import MacroscopeError, no_such_file

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 256
_BYTES_AT_ONCE = 1 << 20  # instead of a row group, which may be as large as the file
_BYTES_OF_BATCH = 1 << 28
"""Most bytes of the rows that are unpacked together: a small file may hold long texts."""
_MOST_TEXT, _MOST_GROWTH = 1 << 26, 200
"""Size of a file's texts, and its ratio to that of the file, that no file may exceed both: real texts reach 20."""
ARROW_MAGIC = (b"ARROW1", b"\xff\xff\xff\xff")
"""First bytes of Arrow's files and streams."""

Table = tuple["pa.Schema", Callable[[list[str]], Iterator["pa.RecordBatch"]]]
"""Schema of a file, and a function that streams the batches of the given columns."""


def read_numbered_rows(
    path: Path, wanted: Collection[str] | None, required: str | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the rows of a file with their numbers (from 1).

    Parameters
    ----------
    wanted
        Names of the columns to read; others are ignored, whatever they hold. None: all whose values may hold text.
    required
        Name of a column that must exist.

    Raises
    ------
    MacroscopeError
        If the file is neither Parquet nor Arrow, is damaged, lacks the required column, has two columns of one wanted
        name, or unpacks to far more text than any real file.
    """
    import pyarrow as pa

    if not path.is_file():
        raise no_such_file(path)
    with path.open("rb") as stream:
        kind, opener = ("Arrow", _open_arrow) if stream.read(8).startswith(ARROW_MAGIC) else ("Parquet", _open_parquet)
    number = characters = 0
    try:
        with ExitStack() as stack:
            schema, batches = opener(path, stack)
            for batch in batches(_columns(schema, wanted, required, path)):
                _require_size(batch.nbytes, path, f"{path}, row {number + 1:,}")
                rows = _rows_at_once(batch.nbytes)
                for start in range(0, batch.num_rows, rows):
                    for row in batch.slice(start, rows).to_pylist():
                        number += 1
                        characters += _count_characters(row)
                        _require_size(characters, path, f"{path}, row {number:,}")
                        yield number, row
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{path}, after row {number:,}: a text is not valid UTF-8 ({error.reason})") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise MacroscopeError(f"{path}: not a readable {kind} file ({reason}); write or download it again") from None


def _rows_at_once(size: int) -> int:
    """Return how many rows to unpack together: a dictionary may hold one text of their whole size for all of them."""
    return max(1, min(_ROWS_AT_ONCE, _BYTES_OF_BATCH // max(1, size)))


def _require_size(size: int, path: Path, where: str) -> None:
    """Check that texts of a size may come from a file."""
    if size > max(_MOST_TEXT, _MOST_GROWTH * path.stat().st_size):
        raise MacroscopeError(
            f"{where}: the texts are over {_MOST_GROWTH} times as large as the file;"
            " give a file without so many repetitions"
        )


def _count_characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_count_characters, parts))


def _columns(schema: "pa.Schema", wanted: Collection[str] | None, required: str | None, path: Path) -> list[str]:
    names = schema.names
    if wanted is None:
        return list(dict.fromkeys(field.name for field in schema if _may_hold_text(field.type)))
    columns = [name for name in names if name in wanted]
    if repeated := next((name for name in columns if columns.count(name) > 1), None):
        raise MacroscopeError(f"{path}: two columns are called {repeated!r}; rename one")
    if required is not None and required not in columns:
        raise MacroscopeError(f"{path}: no column '{required}'; give a file with this column of texts")
    return columns


def _may_hold_text(kind: "pa.DataType") -> bool:
    """Return whether values of a type are JSON's; times may be outside of the range of Python's."""
    import pyarrow as pa

    if pa.types.is_nested(kind):
        return all(_may_hold_text(kind.field(number).type) for number in range(kind.num_fields))
    return not (pa.types.is_temporal(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _open_parquet(path: Path, stack: ExitStack) -> Table:
    import pyarrow.parquet as pq

    file = stack.enter_context(pq.ParquetFile(path, pre_buffer=False, buffer_size=_BYTES_AT_ONCE))
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    largest = max((group.total_byte_size for group in groups), default=0)

    def read(columns: list[str]) -> Iterator["pa.RecordBatch"]:
        # Before any is unpacked, which takes several times the memory. If a column's own size is damaged, asking for it
        # ends the process; so only the size of all is asked for.
        if {*columns} == {*file.schema_arrow.names}:
            _require_size(sum(group.total_byte_size for group in groups), path, str(path))
        return file.iter_batches(batch_size=_rows_at_once(largest), columns=columns)

    return file.schema_arrow, read


def _open_arrow(path: Path, stack: ExitStack) -> Table:
    import pyarrow as pa

    source = stack.enter_context(pa.memory_map(str(path)))
    is_file = source.read(len(ARROW_MAGIC[0])) == ARROW_MAGIC[0]
    source.seek(0)
    reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
    schema: pa.Schema = reader.schema
    batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
    # By numbers, since names may repeat.
    return schema, lambda columns: (
        batch.select([schema.get_all_field_indices(name)[0] for name in columns]) for batch in batches
    )
