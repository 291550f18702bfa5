"""The column `categories` of scores as counts, documents x names, whatever their number: never as Python's lists."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from macroscope.statistics.pairing_keys import KEYS

CATEGORIES = "categories"
"""Names, any number a document: what its latents consist of, such as its section transitions."""


@dataclass(frozen=True)
class CategoryCounts:
    """Categories of the documents of a collection that were looked at.

    Attributes
    ----------
    keys
        `KEYS` of the documents, as far as they have them.
    counts
        Documents x names.
    """

    keys: pd.DataFrame
    counts: sparse.csr_matrix


def read_category_counts(*paths: Path) -> list[CategoryCounts]:
    """Count the categories of some files of scores, over the names of all of them, in the order of their appearance.

    A document whose categories are null was not looked at, and is left out.
    """
    index: dict[str, int] = {}
    read = [_Lists.of(path, index) for path in paths]
    return [CategoryCounts(some.keys, some.counts(len(index))) for some in read]


@dataclass(frozen=True)
class _Lists:
    """Numbers of the names of documents, one document after the other."""

    keys: pd.DataFrame
    numbers: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, path: Path, index: dict[str, int]) -> "_Lists":
        """Read a file; names that are new are added to the index."""
        keys, numbers, lengths = [], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
        for batch in _batches(path):
            lists = batch.column(CATEGORIES)
            named = lists.flatten().dictionary_encode()
            known = [index.setdefault(name, len(index)) for name in named.dictionary.to_pylist()]
            numbers.append(np.array(known, np.int32)[named.indices.to_numpy(zero_copy_only=False)])
            lengths.append(lists.value_lengths().to_numpy(zero_copy_only=False))
            keys.append(batch.drop_columns([CATEGORIES]))
        table = pa.Table.from_batches(keys).to_pandas() if keys else pd.DataFrame(columns=list(KEYS))
        return cls(table, np.concatenate(numbers), np.concatenate(lengths))

    def counts(self, names: int) -> sparse.csr_matrix:
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        ones = np.ones(len(self.numbers))
        found = sparse.csr_matrix((ones, self.numbers, starts), shape=(len(self.lengths), names))
        found.sum_duplicates()
        return found


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Documents that were looked at, some at a time."""
    with pq.ParquetFile(path) as file:
        columns = [name for name in (*KEYS, CATEGORIES) if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=columns):
            yield batch.filter(batch.column(CATEGORIES).is_valid())
