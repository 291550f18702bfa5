"""Latents of the tendencies critic on disk: a row a text, and the counts of tokens in blocks.

Columns: `id` (of the document), `opening` (`documents.opening_of`), `block`, those of `FEATURES`, and `block_counts`:
of the first text of a block the counts of all its tokens, of the others none. (A block that two shards have a part of
has two such rows.) A block is a power of two of consecutive documents, at most `MOST_BLOCKS` of them however large the
collection: memory grows with the vocabulary, and what resampling needs of the vocabulary is kept. Since the sizes are
powers of two, the blocks of a smaller collection can be merged to those of a larger one.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from macroscope.errors import MacroscopeError
from macroscope.statistics.classifier_two_sample_test import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS

MOST_BLOCKS = 1024
INTEGERS = ("tokens", "types", "bigram_types", "stop_words", "symbols", "longest_repeat")
REALS = ("duplicate_2grams", "duplicate_4grams", "compression_ratio")
FEATURES = (*INTEGERS, *REALS)
PER_TEXT = (
    "length",
    "stop_word_share",
    "symbol_share",
    "duplicate_2grams",
    "duplicate_4grams",
    "compression_ratio",
    "longest_repeat",
)
"""What every text has one number of; NaN where a text is too short to have it."""
TEXTS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("opening", pa.string(), nullable=False),
        pa.field("block", pa.int32(), nullable=False),
        *(pa.field(name, pa.int32(), nullable=False) for name in INTEGERS),
        *(pa.field(name, pa.float64()) for name in REALS),
        pa.field("block_counts", pa.list_(pa.struct([("type", pa.string()), ("count", pa.int64())])), nullable=False),
    ]
)
BLOCK_KEY = b"documents_per_block"
_NOTHING = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))


def documents_per_block(documents: int) -> int:
    """Smallest power of two that makes at most `MOST_BLOCKS` blocks."""
    size = 1
    while -(-documents // size) > MOST_BLOCKS:
        size *= 2
    return size


@dataclass(frozen=True)
class Counted:
    """Latents of one system.

    Attributes
    ----------
    texts
        A row a text: `TEXTS`.
    types
        Distinct tokens.
    counts
        Blocks x types.
    documents_per_block
        A power of two.
    """

    texts: pd.DataFrame
    types: pd.Index
    counts: sparse.csr_matrix
    documents_per_block: int

    def merged(self, size: int) -> "Counted":
        """Return the same collection in blocks of `size` documents, a multiple of its own."""
        factor = size // self.documents_per_block
        if factor == 1:
            return self
        block = np.arange(self.counts.shape[0]) // factor
        shape = (int(block[-1]) + 1 if len(block) else 0, len(block))
        merging = sparse.csr_matrix((np.ones(len(block)), (block, np.arange(len(block)))), shape=shape)
        texts = self.texts.assign(block=self.texts["block"] // factor)
        return Counted(texts, self.types, (merging @ self.counts).tocsr(), size)


def per_text(texts: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `PER_TEXT` of latents; shares lie in [0, 1]."""
    tokens = texts["tokens"].where(texts["tokens"] > 0)
    return pd.DataFrame(
        {
            "length": texts["tokens"].astype(float),
            "stop_word_share": texts["stop_words"] / tokens,
            "symbol_share": texts["symbols"] / tokens,
            "duplicate_2grams": texts["duplicate_2grams"],
            "duplicate_4grams": texts["duplicate_4grams"],
            "compression_ratio": texts["compression_ratio"],
            "longest_repeat": texts["longest_repeat"].where(texts["tokens"] > 0).astype(float),
        }
    )


def read_counted(path: Path) -> Counted:
    """Read latents and their counts."""
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file of latents")
    with pq.ParquetFile(path) as file:
        metadata = file.schema_arrow.metadata or {}
        if BLOCK_KEY not in metadata:
            raise MacroscopeError(f"{path}: not latents of the tendencies critic; project the texts again")
        names = [name for name in file.schema_arrow.names if name != "block_counts"]
        texts = file.read(columns=names).to_pandas()
        types, counts = _read_counts(file, int(texts["block"].max()) + 1 if len(texts) else 0)
    return Counted(texts, types, counts, int(metadata[BLOCK_KEY]))


def _read_counts(file: pq.ParquetFile, blocks: int) -> tuple[pd.Index, sparse.csr_matrix]:
    """Types in the order of their appearance, and blocks x types: a row group at a time, each type kept once."""
    index: dict[str, int] = {}
    parts = []
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, columns=["block", "block_counts"])
        lists = table.column("block_counts").combine_chunks()
        counted = lists.flatten()
        named = counted.field("type").dictionary_encode()
        known = [index.setdefault(name, len(index)) for name in named.dictionary.to_pylist()]
        codes = np.array(known, np.int32)[named.indices.to_numpy(zero_copy_only=False)]
        block = np.repeat(table.column("block").to_numpy(), lists.value_lengths().to_numpy(zero_copy_only=False))
        parts.append((counted.field("count").to_numpy(), block, codes))
    values, block, codes = (np.concatenate(some) for some in zip(_NOTHING, *parts, strict=True))
    types = pd.Index(list(index), dtype="str")
    return types, sparse.csr_matrix((values, (block, codes)), shape=(blocks, len(types)))


def on_common_types(*collections: Counted) -> list[sparse.csr_matrix]:
    """Counts of all collections over the union of their types, in one order."""
    union = collections[0].types
    for other in collections[1:]:
        union = union.append(other.types.difference(union, sort=False))
    found = []
    for collection in collections:
        columns = union.get_indexer(collection.types)
        counts = collection.counts.tocoo()
        shape = (counts.shape[0], len(union))
        found.append(sparse.csr_matrix((counts.data, (counts.row, columns[counts.col])), shape=shape))
    return found


_READ = (
    *("tokens", "stop_words", "symbols", "duplicate_2grams", "duplicate_4grams", "compression_ratio"),
    "longest_repeat",
)


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Each of `PER_TEXT`, the mean over the document's texts."""
    texts = pd.read_parquet(latents, columns=[*KEYS, *_READ])
    by_document = pd.concat([texts[list(KEYS)], per_text(texts)], axis=1).groupby("id", sort=False)
    numbers = by_document[list(PER_TEXT)].mean()
    keys = pd.DataFrame({"id": numbers.index, "opening": by_document["opening"].first().to_numpy()})
    return DocumentFeatures(keys, numbers.to_numpy(float))
