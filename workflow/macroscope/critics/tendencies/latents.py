"""Files of latents of the critic `tendencies`: one row per text, and counts of tokens per block of documents.

Columns: `id` (of the document), `opening` (`Document.opening`), `block`, those of `FEATURES`, and `block_counts`.
The first text of a block has the counts of all tokens of the block; the other texts have an empty list. (A block that
two shards have parts of has two such rows.) The number of consecutive documents in a block is a power of two, chosen so
that there are at most `MAX_BLOCKS` blocks: memory then grows with the vocabulary only, and resampling by block stays
possible. Since sizes are powers of two, blocks of a smaller collection can be merged to the size of a larger one's.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from macroscope.critics.latents import latents_schema, open_latents, read_latents, stream_latents
from macroscope.errors import MacroscopeError
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS, find_repeats

MAX_BLOCKS = 1024
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
"""Names of the numbers of every text; NaN if a text is too short for a number."""
LATENTS = latents_schema(
    pa.field("block", pa.int32(), nullable=False),
    *(pa.field(name, pa.int32(), nullable=name == "stop_words") for name in INTEGERS),
    *(pa.field(name, pa.float64()) for name in REALS),
    pa.field("block_counts", pa.list_(pa.struct([("type", pa.string()), ("count", pa.int64())])), nullable=False),
)
BLOCK_KEY = b"documents_per_block"
_EMPTY = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))


def documents_per_block(documents: int) -> int:
    """Return the smallest power of two that gives at most `MAX_BLOCKS` blocks."""
    size = 1
    while -(-documents // size) > MAX_BLOCKS:
        size *= 2
    return size


@dataclass(frozen=True)
class TokenCounts:
    """Latents of one system.

    Attributes
    ----------
    texts
        One row per text, with the columns `LATENTS` without `block_counts`.
    types
        Distinct tokens.
    counts
        Counts of tokens (blocks x types).
    documents_per_block
        Number of documents per block, a power of two.
    """

    texts: pd.DataFrame
    types: pd.Index
    counts: sparse.csr_matrix
    documents_per_block: int

    def merged(self, size: int) -> "TokenCounts":
        """Return the collection in blocks of `size` documents, a multiple of `documents_per_block`."""
        factor = size // self.documents_per_block
        if factor == 1:
            return self
        block = np.arange(self.counts.shape[0]) // factor
        shape = (int(block[-1]) + 1 if len(block) else 0, len(block))
        merging = sparse.csr_matrix((np.ones(len(block)), (block, np.arange(len(block)))), shape=shape)
        texts = self.texts.assign(block=self.texts["block"] // factor)
        return TokenCounts(texts, self.types, (merging @ self.counts).tocsr(), size)


def compute_text_numbers(texts: pd.DataFrame) -> pd.DataFrame:
    """Compute the columns `PER_TEXT` from the columns of latents; shares are in [0, 1]."""
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


def read_token_counts(path: Path) -> TokenCounts:
    """Read latents and their counts of tokens, of the first text of each prompt; see `critics.latents`."""
    with open_latents(path, LATENTS) as file:
        metadata = file.schema_arrow.metadata or {}
    if BLOCK_KEY not in metadata:
        raise MacroscopeError(f"{path}: the size of the blocks is missing; project the texts again")
    texts = read_latents(path, LATENTS, [name for name in LATENTS.names if name != "block_counts"]).to_pandas()
    types, counts = _read_counts(path, int(texts["block"].max()) + 1 if len(texts) else 0)
    texts = texts[~find_repeats(texts)]
    with_first_texts, block = np.unique(texts["block"], return_inverse=True)
    if len(with_first_texts) < counts.shape[0]:
        texts, counts = texts.assign(block=block), counts[with_first_texts]
    return TokenCounts(texts, types, counts, int(metadata[BLOCK_KEY]))


def _read_counts(path: Path, blocks: int) -> tuple[pd.Index, sparse.csr_matrix]:
    """Read types in the order of the alphabet, and counts (blocks x types), one row group at a time.

    Of types of equal counts, some numbers depend on the order. It must not be that of the texts, which would be needed
    to repeat them.
    """
    index: dict[str, int] = {}
    parts = []
    for table in stream_latents(path, LATENTS, ["block", "block_counts"]):
        lists = table.column("block_counts").combine_chunks()
        counted = lists.flatten()
        named = counted.field("type").dictionary_encode()
        numbers = [index.setdefault(name, len(index)) for name in named.dictionary.to_pylist()]
        codes = np.array(numbers, np.int32)[named.indices.to_numpy(zero_copy_only=False)]
        block = np.repeat(table.column("block").to_numpy(), lists.value_lengths().to_numpy(zero_copy_only=False))
        parts.append((counted.field("count").to_numpy(), block, codes))
    values, block, codes = (np.concatenate(arrays) for arrays in zip(_EMPTY, *parts, strict=True))
    types = pd.Index(sorted(index), dtype="str")
    codes = types.get_indexer(list(index))[codes]
    return types, sparse.csr_matrix((values, (block, codes)), shape=(blocks, len(types)))


def align_types(*collections: TokenCounts) -> list[sparse.csr_matrix]:
    """Return the counts of all collections over the union of their types, in the same order."""
    union = collections[0].types
    for collection in collections[1:]:
        union = union.append(collection.types.difference(union, sort=False))
    aligned = []
    for collection in collections:
        columns = union.get_indexer(collection.types)
        counts = collection.counts.tocoo()
        shape = (counts.shape[0], len(union))
        aligned.append(sparse.csr_matrix((counts.data, (counts.row, columns[counts.col])), shape=shape))
    return aligned


def read_document_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read the features of single documents: each number in `PER_TEXT`, as the mean over the document's texts."""
    texts = read_latents(latents, LATENTS, [*KEYS, *FEATURES]).to_pandas()
    by_document = pd.concat([texts[list(KEYS)], compute_text_numbers(texts)], axis=1).groupby("id", sort=False)
    numbers = by_document[list(PER_TEXT)].mean()
    keys = pd.DataFrame({"id": numbers.index, "opening": by_document["opening"].first().to_numpy()})
    return DocumentFeatures(keys, numbers.to_numpy(float), names=PER_TEXT)
