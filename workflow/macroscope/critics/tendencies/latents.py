"""Latents of the tendencies critic on disk: a row a text, and beside them the counts of its tokens in blocks.

`<system>.parquet`: `id`, `block`, and the columns of `FEATURES`. `<system>.counts.parquet`: `block`, `type`, `count`,
sorted by block. A block is a power of two of consecutive documents, at most `MOST_BLOCKS` of them however large the
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
        pa.field("block", pa.int32(), nullable=False),
        *(pa.field(name, pa.int32(), nullable=False) for name in INTEGERS),
        *(pa.field(name, pa.float64()) for name in REALS),
    ]
)
COUNTS = pa.schema(
    [
        pa.field("block", pa.int32(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)
BLOCK_KEY = b"documents_per_block"


def documents_per_block(documents: int) -> int:
    """Smallest power of two that makes at most `MOST_BLOCKS` blocks."""
    size = 1
    while -(-documents // size) > MOST_BLOCKS:
        size *= 2
    return size


def counts_path(latents: Path) -> Path:
    """Where the counts lie that belong to a file of latents."""
    return latents.with_suffix(".counts.parquet")


@dataclass(frozen=True)
class Collection:
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

    def merged(self, size: int) -> "Collection":
        """Return the same collection in blocks of `size` documents, a multiple of its own."""
        factor = size // self.documents_per_block
        if factor == 1:
            return self
        block = np.arange(self.counts.shape[0]) // factor
        shape = (int(block[-1]) + 1 if len(block) else 0, len(block))
        merging = sparse.csr_matrix((np.ones(len(block)), (block, np.arange(len(block)))), shape=shape)
        texts = self.texts.assign(block=self.texts["block"] // factor)
        return Collection(texts, self.types, (merging @ self.counts).tocsr(), size)


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


def read_collection(path: Path) -> Collection:
    """Read latents and their counts."""
    for file in (path, counts_path(path)):
        if not file.exists():
            raise MacroscopeError(f"{file}: no such file of latents")
    metadata = pq.read_schema(path).metadata or {}
    if BLOCK_KEY not in metadata:
        raise MacroscopeError(f"{path}: not latents of the tendencies critic")
    texts = pd.read_parquet(path)
    table = pd.read_parquet(counts_path(path))
    codes, types = pd.factorize(table["type"])
    blocks = int(texts["block"].max()) + 1 if len(texts) else 0
    counts = sparse.csr_matrix((table["count"], (table["block"], codes)), shape=(blocks, len(types)))
    return Collection(texts, pd.Index(types), counts, int(metadata[BLOCK_KEY]))


def on_common_types(*collections: Collection) -> list[sparse.csr_matrix]:
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
