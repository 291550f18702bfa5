"""Narratives as sequences of sentences, with or without the embeddings of these; a collection in memory or on disk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.corpora.plain_text import split_sentences
from macroscope.documents import Document, read_documents
from macroscope.errors import MacroscopeError

Integers = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.floating]


def sentences_of(document: Document, language: str, known: bool = True) -> list[str]:
    """Sentences of a document, a line each, without white space around them.

    Parameters
    ----------
    known
        Whether those that its source gives are taken; a system's text has none, so that what is judged is always cut
        by the same rules.
    """
    if known and document.sentences is not None:
        found: Iterable[str] = document.sentences
    else:
        found = (sentence for part in document.sections for sentence in split_sentences(part.text, language))
    return [line for sentence in found if (line := " ".join(sentence.split()))]


@dataclass(frozen=True)
class Narratives:
    """A collection of narratives, whose sentences are numbered through.

    Attributes
    ----------
    ids, splits, openings
        Of each narrative; see `documents.Document`.
    sentences
        All sentences, narrative by narrative.
    starts
        Number of each narrative's first sentence, and behind the last one the number of all: narratives + 1.
    vectors
        Embedding of each sentence (sentences x width), or None.
    cut
        Whether the encoder read a sentence in part only; None without embeddings.
    """

    ids: list[str]
    splits: list[str]
    openings: list[str]
    sentences: list[str]
    starts: Integers
    vectors: Vectors | None = None
    cut: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> Integers:
        """Sentences of each narrative."""
        return np.diff(self.starts)

    @property
    def families(self) -> Integers:
        """Number of the family of each narrative: those that begin alike tell versions of one story."""
        keys = [opening or name for opening, name in zip(self.openings, self.ids, strict=True)]
        known = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return np.array([known[key] for key in keys], dtype=np.int64)

    def of_split(self, split: str) -> list[int]:
        """Numbers of the narratives of a split."""
        return [number for number, own in enumerate(self.splits) if own == split]

    def with_vectors(self, vectors: Vectors, cut: npt.NDArray[np.bool_]) -> "Narratives":
        """The same narratives with embeddings."""
        return Narratives(self.ids, self.splits, self.openings, self.sentences, self.starts, vectors, cut)


def narratives_of(documents: Iterable[Document], language: str, known: bool = True) -> Narratives:
    """Cut documents into sentences; see `sentences_of`."""
    ids, splits, openings, sentences = [], [], [], []
    starts = [0]
    for document in documents:
        sentences += sentences_of(document, language, known)
        ids.append(document.id)
        splits.append(document.split)
        openings.append(document.opening)
        starts.append(len(sentences))
    return Narratives(ids, splits, openings, sentences, np.array(starts, dtype=np.int64))


class SentenceVectors:
    """The folder of a collection's sentence embeddings: written in parts, read without loading it all.

    sentences.parquet has `id` and `sentences` (how many) of each document, in file order; cut.npy, of each sentence,
    whether it was cut; vectors.npy their embeddings in half precision (sentences x width).
    """

    VECTORS, CUT, INDEX = "vectors.npy", "cut.npy", "sentences.parquet"

    @classmethod
    def write(cls, folder: Path, ids: Sequence[str], lengths: Integers, parts: Path, width: int) -> None:
        """Write the folder from a raw file of half-precision vectors, each with a last column that says it was cut."""
        folder.mkdir(exist_ok=True)
        raw = np.memmap(parts, dtype=np.float16, mode="r").reshape(-1, width + 1) if lengths.sum() else None
        shape = (int(lengths.sum()), width)
        vectors = np.lib.format.open_memmap(folder / cls.VECTORS, mode="w+", dtype=np.float16, shape=shape)
        cut = np.zeros(shape[0], dtype=bool)
        if raw is not None:
            for start in range(0, shape[0], 1 << 16):
                part = raw[start : start + (1 << 16)]
                vectors[start : start + len(part)] = part[:, :width]
                cut[start : start + len(part)] = part[:, width] > 0
        vectors.flush()
        np.save(folder / cls.CUT, cut)
        pq.write_table(pa.table({"id": list(ids), "sentences": lengths}), folder / cls.INDEX)

    @classmethod
    def read(cls, folder: Path, narratives: Narratives, first: int = 0) -> Narratives:
        """Add to narratives, which are those of the folder from the number `first` on, their embeddings.

        Raises
        ------
        MacroscopeError
            Where the folder is one of other narratives.
        """
        index = pq.read_table(folder / cls.INDEX)
        some = index.slice(first, len(narratives))
        if some.column("id").to_pylist() != narratives.ids or not np.array_equal(
            some.column("sentences").to_numpy(), narratives.lengths
        ):
            raise MacroscopeError(f"{folder}: embeddings of the sentences of other documents; delete the folder")
        before = int(index.slice(0, first).column("sentences").to_numpy().sum())
        inside = slice(before, before + len(narratives.sentences))
        vectors = np.load(folder / cls.VECTORS, mmap_mode="r")[inside]
        return narratives.with_vectors(vectors, np.load(folder / cls.CUT, mmap_mode="r")[inside])


def corpus_narratives(documents: Path, language: str, embeddings: Path | None = None) -> Narratives:
    """Read the narratives of a corpus, all splits, and their embeddings where these are given."""
    found = narratives_of(read_documents(documents), language)
    return found if embeddings is None else SentenceVectors.read(embeddings, found)
