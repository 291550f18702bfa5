"""Narratives as sequences of sentences, with or without sentence embeddings."""

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, tee
from typing import overload

import numpy as np
import numpy.typing as npt

from macroscope.arrays import release_pages
from macroscope.documents import Document
from macroscope.natural_language.sentences import split_texts

Integers = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.floating]
LIST_MARK = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+(?=\S)", re.MULTILINE)
"""Mark of a list's item with the space around it; a numbered one would be a sentence of its own."""
_ROWS_AT_ONCE = 1024
"""Number of embeddings after which pages are given back: one may lie on 16 pages, since the system reads ahead."""


class PackedTexts(Sequence[str]):
    """Texts in one run of bytes, which takes half the memory of a list of short strings."""

    def __init__(self) -> None:
        self._bytes, self._ends = bytearray(), array("q", [0])

    def __iadd__(self, texts: Iterable[str]) -> "PackedTexts":
        for text in texts:
            self._bytes += text.encode("utf-8", "surrogatepass")
            self._ends.append(len(self._bytes))
        return self

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        numbers = range(len(self))[index]
        return self._decode(numbers) if isinstance(numbers, int) else [self._decode(number) for number in numbers]

    def _decode(self, number: int) -> str:
        return self._bytes[self._ends[number] : self._ends[number + 1]].decode("utf-8", "surrogatepass")


class VectorRows:
    """Embeddings of sentences, copied in single precision when they are read.

    Those of a file take no memory, and no selection does.

    Parameters
    ----------
    stored
        Array of embeddings (stored sentences x width), in memory or mapped from a file.
    numbers
        Row of each sentence in the array; default: all rows.
    """

    def __init__(self, stored: Vectors, numbers: Integers | None = None) -> None:
        self._stored = stored
        self._numbers = np.arange(len(stored)) if numbers is None else numbers
        self._unreleased = 0

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def width(self) -> int:
        """Return the dimension of an embedding."""
        return int(self._stored.shape[1])

    def select(self, numbers: Integers) -> "VectorRows":
        """Return the embeddings of the sentences with these numbers."""
        return VectorRows(self._stored, self._numbers[numbers])

    def __getitem__(self, numbers: slice | Integers) -> npt.NDArray[np.float32]:
        """Return the embeddings of the sentences with these numbers (shape of the numbers x width)."""
        rows = self._numbers[numbers]
        vectors = np.empty((rows.size, self.width), dtype=np.float32)
        for start in range(0, rows.size, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            vectors[part] = self._stored[rows.flat[part]]
            self._unreleased += len(vectors[part])
            if self._unreleased >= _ROWS_AT_ONCE:
                release_pages(self._stored)
                self._unreleased = 0
        return vectors.reshape(*rows.shape, self.width)


def split_documents(
    documents: Iterable[Document], language: str, from_source: bool = True
) -> Iterator[tuple[Document, list[str]]]:
    """Yield each document and its sentences, each one line without surrounding white space and without a list's mark.

    Parameters
    ----------
    language
        Code of the language, or name of a pipeline; see `natural_language.sentences.split_texts`.
    from_source
        Whether to use the sentences that the document's source gives, if any. Judged texts are always split by the
        same rules, since a system's texts have no such sentences.
    """

    def given(document: Document) -> Sequence[str] | None:
        return document.sentences if from_source else None

    documents, ahead = tee(documents)
    judged = (document for document in ahead if given(document) is None)
    texts = (blank_list_marks(section.text) for document in judged for section in document.sections)
    split = split_texts(texts, language)
    for document in documents:
        sentences: Iterable[str] | None = given(document)
        if sentences is None:
            sentences = chain.from_iterable(islice(split, len(document.sections)))
        yield document, [line for sentence in sentences if (line := " ".join(sentence.split()))]


def blank_list_marks(text: str) -> str:
    """Replace the marks of a list's items by as many spaces: places in the text stay."""
    return LIST_MARK.sub(lambda match: " " * len(match[0]), text)


@dataclass(frozen=True)
class Narratives:
    """A collection of narratives, with sentences numbered across narratives.

    Attributes
    ----------
    ids, splits, openings
        Attributes of each narrative; see `documents.Document`.
    sentences
        All sentences, narrative by narrative.
    starts
        Number of each narrative's first sentence, followed by the total number of sentences (narratives + 1).
    vectors
        Embedding of each sentence (sentences x width), or None.
    cut
        Whether the encoder read only a part of each sentence; None without embeddings.
    """

    ids: list[str]
    splits: list[str]
    openings: list[str]
    sentences: Sequence[str]
    starts: Integers
    vectors: VectorRows | None = None
    cut: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> Integers:
        """Return the number of sentences of each narrative."""
        return np.diff(self.starts)

    @property
    def families(self) -> Integers:
        """Return the number of each narrative's family: narratives with the same opening are versions of one story."""
        keys = [opening or name for opening, name in zip(self.openings, self.ids, strict=True)]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys], dtype=np.int64)

    def of_split(self, split: str) -> list[int]:
        """Return the numbers of the narratives of a split."""
        return [number for number, own_split in enumerate(self.splits) if own_split == split]

    def with_vectors(self, vectors: Vectors | VectorRows, cut: npt.NDArray[np.bool_]) -> "Narratives":
        """Return the same narratives with embeddings."""
        vectors = vectors if isinstance(vectors, VectorRows) else VectorRows(vectors)
        return Narratives(self.ids, self.splits, self.openings, self.sentences, self.starts, vectors, cut)


def split_narratives(documents: Iterable[Document], language: str, from_source: bool = True) -> Narratives:
    """Split documents into sentences; see `split_documents`."""
    ids, splits, openings, sentences = [], [], [], PackedTexts()
    starts = [0]
    for document, of_document in split_documents(documents, language, from_source):
        sentences += of_document
        ids.append(document.id)
        splits.append(sys.intern(document.split))  # one string for all of them
        openings.append(document.opening)
        starts.append(len(sentences))
    return Narratives(ids, splits, openings, sentences, np.array(starts, dtype=np.int64))
