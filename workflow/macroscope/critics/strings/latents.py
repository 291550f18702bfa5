"""Latents of the strings critic: the texts themselves, one line each.

`<system>.parquet`: `id`, `opening` (`Document.opening`), `text` (sections joined, line breaks as spaces), `words`
(number of words, as KenLM splits them).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.latents import key_columns, latents_schema, read_latents, write_latents
from macroscope.documents import Collection, Document
from macroscope.natural_language.words import lower_case_words
from macroscope.readers.templates import TOKEN
from macroscope.statistics.document_features import JOINT, DocumentFeatures
from macroscope.systems.ngram.model import words_of

LATENTS = latents_schema(pa.field("text", pa.string(), nullable=False), pa.field("words", pa.int32(), nullable=False))


@dataclass(frozen=True)
class Texts:
    """Texts of a collection.

    Attributes
    ----------
    ids, openings, texts
        Id, opening and text of each document.
    words
        Number of words of each text.
    """

    ids: list[str]
    openings: list[str]
    texts: list[str]
    words: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> pd.DataFrame:
        """Return the keys by which texts are paired; see `statistics.permutation_groups`."""
        return pd.DataFrame({"id": self.ids, "opening": self.openings})

    @property
    def lower_case_words(self) -> list[list[str]]:
        """Return the words of each text in lower case, without punctuation, with plain apostrophes."""
        return [lower_case_words(text.replace("’", "'")) for text in self.texts]

    @property
    def split(self) -> list[list[str]]:
        """Return the words of each text, in order."""
        return [split_words(text) for text in self.texts]

    def every_other(self, first: int) -> "Texts":
        """Return every other text, starting at number `first`."""
        return Texts(self.ids[first::2], self.openings[first::2], self.texts[first::2], self.words[first::2])


def split_words(text: str) -> list[str]:
    """Return the words of a text as KenLM splits them; control tokens at a word are words of their own."""
    words = words_of(text)
    if TOKEN.search(text) is None:
        return words
    return [part for word in words for part in _AT_TOKENS.split(word) if part]


_AT_TOKENS = re.compile(f"({TOKEN.pattern})")


def project(texts: Collection, *, output: Path, signature: str = "") -> None:
    """Write the text of every document, in batches."""
    write_latents(output, LATENTS, map(_join_sections, texts.batches()), signature)


def _join_sections(documents: Sequence[Document]) -> pa.Table:
    lines = [document.text.replace("\n", " ") for document in documents]
    counts = pa.array([len(words_of(line)) for line in lines], pa.int32())
    return pa.table([*key_columns(documents), pa.array(lines), counts], schema=LATENTS)


def read_texts(path: Path) -> Texts:
    """Read the latents of a system."""
    table = read_latents(path, LATENTS, ["id", "opening", "text", "words"])
    words = table.column("words").to_numpy().astype(np.int64)
    ids, openings, texts = (table.column(name).to_pylist() for name in ("id", "opening", "text"))
    return Texts(ids, openings, texts, words)


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Return words, in order, and bigrams of every text, and its number of words."""
    texts = read_texts(latents)
    words = texts.split
    bigrams = [[JOINT.join(pair) for pair in pairwise(each)] for each in words]
    return DocumentFeatures(texts.keys, texts.words.astype(float)[:, np.newaxis], (words, bigrams), ("words",))
