"""Tables of scores: a row per document with T(x), counts of categories, and further numbers in columns number_<name>.

T(x) is the number of a document. Further numbers are compared with those of real text, by the statistics of
`statistics.columns`; they are features of the document, and readers see them beside T(x).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy import sparse

from macroscope.errors import MacroscopeError
from macroscope.statistics.document_groups import KEYS, find_repeats, read_keys

CATEGORIES = "categories"
"""Column of the names that a document's latents consist of, such as section transitions; any number each."""


@dataclass(frozen=True)
class CategoryCounts:
    """Counts of categories of the evaluated documents of a collection.

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
    """Count the categories of files of scores, over the names of all of them, in the order of their appearance.

    Documents whose categories are null were not evaluated and are left out, and so are further texts of a prompt.
    """
    index: dict[str, int] = {}
    lists_of_files = [_Lists.read(path, index) for path in paths]
    return [CategoryCounts(lists.keys, lists.counts(len(index))) for lists in lists_of_files]


@dataclass(frozen=True)
class _Lists:
    """Numbers of the names of documents, one document after the other."""

    keys: pd.DataFrame
    numbers: np.ndarray
    lengths: np.ndarray

    @classmethod
    def read(cls, path: Path, index: dict[str, int]) -> "_Lists":
        """Read a file; new names are added to the index."""
        keys, numbers, lengths = [], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
        for batch in _batches(path):
            lists = batch.column(CATEGORIES)
            named = lists.flatten().dictionary_encode()
            codes = [index.setdefault(name, len(index)) for name in named.dictionary.to_pylist()]
            numbers.append(np.array(codes, np.int32)[named.indices.to_numpy(zero_copy_only=False)])
            lengths.append(lists.value_lengths().to_numpy(zero_copy_only=False))
            keys.append(batch.drop_columns([CATEGORIES]))
        table = pa.Table.from_batches(keys).to_pandas() if keys else pd.DataFrame(columns=list(KEYS))
        return cls(table, np.concatenate(numbers), np.concatenate(lengths))

    def counts(self, names: int) -> sparse.csr_matrix:
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        ones = np.ones(len(self.numbers))
        counts = sparse.csr_matrix((ones, self.numbers, starts), shape=(len(self.lengths), names))
        counts.sum_duplicates()
        return counts


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield batches of evaluated documents; of several texts of a prompt the first."""
    is_first, start = pa.array(~find_repeats(read_keys(path))), 0
    with pq.ParquetFile(path) as file:
        columns = [name for name in (*KEYS, CATEGORIES) if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=columns):
            of_batch, start = is_first.slice(start, len(batch)), start + len(batch)
            yield batch.filter(pc.and_(batch.column(CATEGORIES).is_valid(), of_batch))


NUMBER = "number_"
"""Prefix of the columns of further numbers."""


def read_scores(path: Path) -> pd.DataFrame:
    """Read a table of scores without its categories.

    Raises
    ------
    MacroscopeError
        If the file, or one of the columns id, nll and units, is missing.
    """
    try:
        names = pq.read_schema(path).names
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of scores") from None
    missing = [name for name in ("id", "nll", "units") if name not in names]
    if missing:
        raise MacroscopeError(f"{path}: no column '{missing[0]}'; a table of scores has id, nll, units")
    return pd.read_parquet(path, columns=[name for name in names if name != CATEGORIES])


def list_document_numbers(scores: Path) -> list[str]:
    """List the names of the further numbers in a file of scores."""
    return [name.removeprefix(NUMBER) for name in pq.read_schema(scores).names if name.startswith(NUMBER)]


def read_document_numbers(scores: Path) -> pd.DataFrame:
    """Read the `KEYS` of every document, and its further numbers under their names."""
    names = list_document_numbers(scores)
    keys = [key for key in KEYS if key in pq.read_schema(scores).names]
    table = pd.read_parquet(scores, columns=[*keys, *(f"{NUMBER}{name}" for name in names)])
    return table.rename(columns={f"{NUMBER}{name}": name for name in names})
