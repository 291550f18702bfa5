"""Latents and scores some documents at a time, so that memory does not grow with their number."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.statistics.scores import CATEGORIES


def read_batches(
    path: Path, what: str, columns: Sequence[str] | None = None, at_once: int = 10_000
) -> Iterator[pd.DataFrame]:
    """Read latents, some documents at a time.

    Parameters
    ----------
    what
        They are, for the message where there is no such file.
    columns
        That are read; None: all.
    """
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of {what}") from None
    for batch in file.iter_batches(batch_size=at_once, columns=list(columns) if columns else None):
        yield batch.to_pandas()


def write_scores(scores: Iterable[pd.DataFrame], output: Path, latents: Path) -> None:
    """Write scores, streaming, with the types that they have whatever is in them; `categories` are lists of names.

    Parameters
    ----------
    latents
        What they are of, for the message where there are none.
    """
    tables = map(_typed, scores)
    first = next(tables, None)
    if first is None:
        raise MacroscopeError(f"{latents}: no documents to score; the system produced none")
    with atomic(output) as temporary, pq.ParquetWriter(temporary, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _typed(scores: pd.DataFrame) -> pa.Table:
    schema = pa.Schema.from_pandas(scores.drop(columns=CATEGORIES, errors="ignore"), preserve_index=False)
    if CATEGORIES in scores:
        schema = schema.append(pa.field(CATEGORIES, pa.list_(pa.string())))
    return pa.Table.from_pandas(scores, schema)
