"""Latents and scores on disk: critics declare the columns of their latents; reading, checks and writing are shared.

All files are read and written in batches of documents, so that memory does not grow with their number.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.documents import Collection, Document
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.progress import Progress
from macroscope.statistics.document_groups import KEYS, find_repeats, read_keys
from macroscope.statistics.score_tables import CATEGORIES

ANY_WIDTH = 0
"""Width of vectors in a declaration, if the width depends on the model."""
FOLD = "fold"
"""Name of a further column of latents and scores of a cross-fitted critic: the fold of the document, from 0."""
METADATA_KEY = b"macroscope"
"""Metadata key: JSON with `signature`, and further information from the critic about its latents."""


def latents_schema(*columns: pa.Field) -> pa.Schema:
    """Return the schema of a critic's latents: `KEYS`, then the critic's columns."""
    return pa.schema([*(pa.field(name, pa.string(), nullable=False) for name in KEYS), *columns])


def vector_field(name: str, numbers: pa.DataType) -> pa.Field:
    """Return the declaration of a column of vectors, whose width depends on the model."""
    return pa.field(name, pa.list_(numbers, ANY_WIDTH), nullable=False)


def set_width(schema: pa.Schema, width: int) -> pa.Schema:
    """Return a schema with the width of its vectors."""
    return pa.schema(
        [
            field.with_type(pa.list_(field.type.value_type, width)) if _is_vector(field.type) else field
            for field in schema
        ]
    )


# ---- reading ---------------------------------------------------------------------------------------------------------


def open_latents(path: Path, schema: pa.Schema | None = None) -> pq.ParquetFile:
    """Open a file of latents.

    Parameters
    ----------
    schema
        Columns that the file must have; default: any.

    Raises
    ------
    MacroscopeError
        If there is no such file, if it is damaged, or if a column is missing or of another type.
    """
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of latents; project the texts first") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from None
    names = file.schema_arrow.names
    for field in schema or ():
        if field.name not in names:
            raise MacroscopeError(
                f"{path}: no column '{field.name}', so these are not latents of this critic; project the texts again"
            )
        given = file.schema_arrow.field(field.name).type
        if not _matches(given, field.type):
            raise MacroscopeError(
                f"{path}: the column '{field.name}' has values of type {given} instead of {field.type}; project the"
                " texts again"
            )
    return file


def stream_latents(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Read latents one row group at a time: unlike `iter_batches`, this keeps no decoded data in memory.

    Parameters
    ----------
    schema
        Declaration of the critic's latents; see `open_latents`.
    columns
        Names of the columns to read; default: all.
    """
    with open_latents(path, schema) as file:
        for group in range(file.num_row_groups):
            if file.metadata.row_group(group).num_rows:
                yield _read_row_group(file, group, path, list(columns or schema.names)).combine_chunks()


def read_latents(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the latents of all documents; see `stream_latents`."""
    names = list(columns or schema.names)
    empty = pa.schema([schema.field(name) for name in names]).empty_table()
    tables = [table.select(names) for table in stream_latents(path, schema, names)]
    return pa.concat_tables(tables) if tables else empty


def read_vectors(path: Path, schema: pa.Schema, name: str) -> NDArray[Any]:
    """Read a column of vectors as an array (documents x width); a large one is memory-mapped (`macroscope.arrays`)."""
    with open_latents(path, schema) as file:
        kind = file.schema_arrow.field(name).type
        shape = file.metadata.num_rows, kind.list_size
    vectors = mapped(shape, kind.value_type.to_pandas_dtype())
    end = 0
    for table in stream_latents(path, schema, [name]):
        start, end = end, end + len(table)
        vectors[start:end] = vectors_of(table, name)
    pa.default_memory_pool().release_unused()  # Arrow keeps freed memory: 2 GB after a million embeddings
    return vectors


def vectors_of(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a column of vectors as an array (documents x width)."""
    column = table.column(name).combine_chunks()
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(table), column.type.list_size)


def read_numbers(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the `KEYS`, as far as the file has them, and the numeric and boolean columns of any critic's latents."""
    with open_latents(path) as file:
        keys = [name for name in KEYS if name in file.schema_arrow.names]
        numbers = [
            field.name for field in file.schema_arrow if _is_number(field.type) and field.name not in (*KEYS, FOLD)
        ]
        table = file.read(columns=[*keys, *numbers]).to_pandas()
    return table[keys], table.drop(columns=keys).select_dtypes(["number", "bool"])


def read_metadata(path: Path, schema: pa.Schema | None = None) -> dict[str, Any]:
    """Read what `write_latents` wrote into the metadata, {} if the file has none; see `open_latents`."""
    with open_latents(path, schema) as file:
        return dict(json.loads((file.metadata.metadata or {}).get(METADATA_KEY, b"{}")))


# ---- writing ---------------------------------------------------------------------------------------------------------


def batches_with_progress(texts: Collection, progress: Progress) -> Iterator[list[Document]]:
    """Yield the batches of a collection, and show how many of its documents are done."""
    with progress:
        for batch in texts.batches():
            yield batch
            progress.advance(len(batch))


def key_columns(documents: Sequence[Document]) -> list[pa.Array]:
    """Return the columns `KEYS` of documents."""
    return [pa.array([getattr(document, key) for document in documents], pa.string()) for key in KEYS]


def vector_column(vectors: NDArray[Any]) -> pa.FixedSizeListArray:
    """Return vectors (documents x width) as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])


def write_latents(
    output: Path, schema: pa.Schema, tables: Iterable[pa.Table], signature: str, about: Mapping[str, Any] | None = None
) -> None:
    """Write latents atomically, as a stream, one row group per table.

    Parameters
    ----------
    schema
        Declaration of the critic's latents, with the width of its vectors (`set_width`).
    signature
        Signature of the stage `project`, for the metadata.
    about
        Further metadata; they may still change while `tables` is consumed. Numbers under "counts" are summed over
        shards.
    """
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.cast(schema))
        metadata = json.dumps({"signature": signature, **(about or {})}, ensure_ascii=False)
        writer.add_key_value_metadata({METADATA_KEY: metadata.encode()})


def write_scores(scores: Iterable[pd.DataFrame], output: Path, latents: Path) -> None:
    """Write scores as a stream, with types that do not depend on their values; `categories` are lists of names.

    Parameters
    ----------
    latents
        Path of the scored latents, for the error message if there are no scores.

    Raises
    ------
    MacroscopeError
        If there are no scores.
    """
    tables = map(_to_table, scores)
    first = next(tables, None)
    if first is None:
        raise MacroscopeError(f"{latents}: no documents to score, the system produced none; check its samples")
    with atomic(output) as temporary, pq.ParquetWriter(temporary, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _to_table(scores: pd.DataFrame) -> pa.Table:
    schema = pa.Schema.from_pandas(scores.drop(columns=CATEGORIES, errors="ignore"), preserve_index=False)
    if CATEGORIES in scores:
        schema = schema.append(pa.field(CATEGORIES, pa.list_(pa.string())))
    return pa.Table.from_pandas(scores, schema)


def gather(shards_of_latents: Sequence[Path], output: Path) -> None:
    """Concatenate shards in the given order, one row group at a time.

    Metadata that are equal in all shards are kept. If the metadata are JSON with "counts", the counts are summed.
    """
    files = [open_latents(path) for path in shards_of_latents]
    metadata = [custom_metadata(file) for file in files]
    merged = {key: _merge_metadata([entries[key] for entries in metadata], shards_of_latents) for key in metadata[0]}
    schema = files[0].schema_arrow.with_metadata(merged)
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for file, path in zip(files, shards_of_latents, strict=True):
            for group in range(file.num_row_groups):
                writer.write_table(_read_row_group(file, group, path).replace_schema_metadata(merged))


def copy_rows(path: Path, output: Path, is_chosen: NDArray[np.bool_]) -> None:
    with open_latents(path) as file:
        schema = file.schema_arrow.with_metadata(file.metadata.metadata)
        with pq.ParquetWriter(output, schema, compression="zstd") as writer:
            start = 0
            for group in range(file.num_row_groups):
                table = _read_row_group(file, group, path)
                end = start + len(table)
                writer.write_table(
                    table.filter(pa.array(is_chosen[start:end])).replace_schema_metadata(schema.metadata)
                )
                start = end


def is_cross_fitted(path: Path) -> bool:
    """Return whether a file of latents has folds."""
    with open_latents(path) as file:
        return FOLD in file.schema_arrow.names


def custom_metadata(file: pq.ParquetFile) -> dict[bytes, bytes]:
    """Return the metadata of a file, without those that the format adds."""
    return {key: value for key, value in (file.metadata.metadata or {}).items() if key != b"ARROW:schema"}


def _merge_metadata(values: Sequence[bytes], shards: Sequence[Path]) -> bytes:
    parts = [_parsed(value) for value in values]
    counts = [part.pop("counts", {}) for part in parts]
    if any(part != parts[0] for part in parts) or any(count.keys() != counts[0].keys() for count in counts):
        raise MacroscopeError(
            f"{shards[0]} and the other shards come from different options; project the documents again"
        )
    if not counts[0]:
        return values[0]
    total = {name: sum(count[name] for count in counts) for name in counts[0]}
    return json.dumps(parts[0] | {"counts": total}, ensure_ascii=False).encode()


def _parsed(value: bytes) -> dict[str, Any]:
    """Parse a JSON object; return anything else unchanged under the key ""."""
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"": value}


def _read_row_group(file: pq.ParquetFile, group: int, path: Path, columns: list[str] | None = None) -> pa.Table:
    try:
        return file.read_row_group(group, columns=columns)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> MacroscopeError:
    reason = " ".join(str(error).split())
    return MacroscopeError(
        f"{path}: not a readable Parquet file ({reason}); remove it, and run the command again to rebuild it"
    )


def _is_vector(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_list(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _matches(given: pa.DataType, declared: pa.DataType) -> bool:
    """Return whether values of a file are of the declared type; vectors may have any width."""
    if _is_vector(declared):
        return _is_vector(given) and _matches(given.value_type, declared.value_type)
    if pa.types.is_list(declared):
        return bool(pa.types.is_list(given)) and _matches(given.value_type, declared.value_type)
    if pa.types.is_large_string(given):
        given = pa.string()
    return bool(given.equals(declared))


# ---- first texts -----------------------------------------------------------------------------------------------------
# Latents of one text of each prompt, for statistics that are no sums over documents.
#
# Several texts of a prompt are alike, and a test that permutes them one by one takes their likeness for a difference.
# Sums over documents are permuted and resampled by prompt instead (`statistics.document_groups`); for a divergence, a
# distance between distributions or a vocabulary there is no such way if only one side has several texts of a prompt. So
# these compare the first text of each.

log = logging.getLogger("macroscope")


@contextmanager
def first_texts(latents: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Yield paths of latents with the first text of each prompt: the same path if every text is the first one.

    Parameters
    ----------
    latents
        Name -> path of latents. A path that stands twice is replaced by the same one.
    """
    with TemporaryDirectory() as folder:
        replaced = {
            path: _without_repeats(path, Path(folder) / f"{number}.parquet")
            for number, path in enumerate(dict.fromkeys(latents.values()))
        }
        yield {name: replaced[path] for name, path in latents.items()}


def _without_repeats(path: Path, output: Path) -> Path:
    open_latents(path).close()  # a damaged or missing file is one sentence
    repeats = find_repeats(read_keys(path))
    if not repeats.any():
        return path
    log.info(
        "%s: %d of %d texts are further texts of a prompt; this comparison uses the first text of each prompt",
        path,
        repeats.sum(),
        len(repeats),
    )
    copy_rows(path, output, ~repeats)
    return output
