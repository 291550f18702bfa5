"""Latents of the strings critic: the texts themselves, one line each.

`<system>.parquet`: `id`, `opening` (`documents.opening_of`), `text` (sections joined, line breaks as spaces), `words`
(number of words, as KenLM splits them).
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.critics.latents import add_signature
from macroscope.documents import Collection, opening_of
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS
from macroscope.systems.ngram.backoff import words_of

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("opening", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("words", pa.int32(), nullable=False),
    ]
)


@dataclass(frozen=True)
class Texts:
    """Texts of a collection.

    Attributes
    ----------
    ids, texts
        Id and text of each document.
    words
        Number of words of each text.
    """

    ids: list[str]
    texts: list[str]
    words: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> pd.DataFrame:
        """Return the keys by which texts are paired; see `statistics.permutation_groups`."""
        return pd.DataFrame({"id": self.ids, "opening": [opening_of(text) for text in self.texts]})

    def every_other(self, first: int) -> "Texts":
        """Return every other text, starting at number `first`."""
        return Texts(self.ids[first::2], self.texts[first::2], self.words[first::2])


def project(texts: Collection, *, output: Path, signature: str = "") -> None:
    """Write the text of every document, in batches."""
    schema = add_signature(SCHEMA, signature)
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in texts.batches():
            lines = [document.text.replace("\n", " ") for document in batch]
            counts = [len(words_of(line)) for line in lines]
            keys = [pa.array([getattr(document, key) for document in batch]) for key in KEYS]
            columns = [*keys, pa.array(lines), pa.array(counts, pa.int32())]
            writer.write_table(pa.table(columns, schema=schema))


def read_texts(path: Path) -> Texts:
    """Read the latents of a system."""
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: the file of texts does not exist; run the projection first") from None
    words = table.column("words").to_numpy().astype(np.int64)
    return Texts(table.column("id").to_pylist(), table.column("text").to_pylist(), words)


_BIGRAM_SEPARATOR = "\x00"
"""Separator of the words of a pair, which no word contains."""


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Return words and bigrams of every text, and its number of words."""
    texts = read_texts(latents)
    bags: tuple[list[list[str]], list[list[str]]] = ([], [])
    for text in texts.texts:
        words = list(words_of(text))
        bags[0].append(words)
        bags[1].append([_BIGRAM_SEPARATOR.join(pair) for pair in pairwise(words)])
    return DocumentFeatures(texts.keys, texts.words.astype(float)[:, np.newaxis], bags)
