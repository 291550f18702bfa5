"""Sentence embeddings on disk: those of a collection in order, and single ones found by their sentence."""

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.narratives import Integers, Narratives, Vectors, split_narratives
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError

Digests = npt.NDArray[np.uint64]


class SentenceVectors:
    """Files of a collection's sentence embeddings, written in parts and memory-mapped when read.

    sentences.parquet has `id` and `sentences` (their number) of each document, in file order; cut.npy has whether each
    sentence was cut; digests.npy has a digest of each; vectors.npy has the embeddings in half precision (sentences x
    width).
    """

    VECTORS, CUT, DIGESTS, INDEX = "vectors.npy", "cut.npy", "digests.npy", "sentences.parquet"

    @classmethod
    def write(
        cls, folder: Path, ids: Sequence[str], lengths: Integers, digests: Digests, parts: Path, width: int
    ) -> None:
        """Write the folder from a raw file of half-precision vectors, whose last column flags cut sentences."""
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
        np.save(folder / cls.DIGESTS, digests)
        pq.write_table(pa.table({"id": list(ids), "sentences": lengths}), folder / cls.INDEX)

    @classmethod
    def read(cls, folder: Path, narratives: Narratives, first: int = 0) -> Narratives:
        """Add embeddings to narratives, which are those of the folder from number `first` on."""
        index = pq.read_table(folder / cls.INDEX)
        rows = index.slice(first, len(narratives))
        if rows.column("id").to_pylist() != narratives.ids or not np.array_equal(
            rows.column("sentences").to_numpy(), narratives.lengths
        ):
            raise MacroscopeError(f"{folder}: the embeddings belong to other documents; delete the folder")
        before = int(index.slice(0, first).column("sentences").to_numpy().sum())
        selection = slice(before, before + len(narratives.sentences))
        vectors = np.load(folder / cls.VECTORS, mmap_mode="r")[selection]
        return narratives.with_vectors(vectors, np.load(folder / cls.CUT, mmap_mode="r")[selection])


class KnownSentences:
    """Embeddings of a folder of `SentenceVectors`, found by sentence.

    Parameters
    ----------
    folder
        The folder.
    """

    def __init__(self, folder: Path) -> None:
        digests = np.load(folder / SentenceVectors.DIGESTS)
        self._order = np.argsort(digests, kind="stable")
        self._sorted = digests[self._order]
        self._vectors = np.load(folder / SentenceVectors.VECTORS, mmap_mode="r")
        self._cut = np.load(folder / SentenceVectors.CUT, mmap_mode="r")

    @property
    def width(self) -> int:
        return int(self._vectors.shape[1])

    def find(self, sentences: Sequence[str]) -> Integers:
        """Return the number of each sentence in the folder; -1 if it is not there."""
        digests = digest_sentences(sentences)
        places = np.searchsorted(self._sorted, digests)
        is_known = np.zeros(len(digests), dtype=bool)
        inside = places < len(self._sorted)
        is_known[inside] = self._sorted[places[inside]] == digests[inside]
        numbers = np.full(len(digests), -1, dtype=np.int64)
        numbers[is_known] = self._order[places[is_known]]
        return numbers

    def read(self, numbers: Integers) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Return the embeddings of these sentences, and whether each was cut."""
        return self._vectors[numbers], self._cut[numbers]


def digest_sentences(sentences: Sequence[str]) -> Digests:
    """Return 64 bits of a hash of each sentence: among 10 million, two are alike with a chance of 3 in a million."""
    hashed = b"".join(blake2b(each.encode("utf-8", "surrogatepass"), digest_size=8).digest() for each in sentences)
    return np.frombuffer(hashed, dtype=np.uint64)


def read_corpus_narratives(documents: Path, language: str, embeddings: Path | None = None) -> Narratives:
    """Read the narratives of a corpus, all splits, and their embeddings if these are given."""
    narratives = split_narratives(read_documents(documents), language)
    return narratives if embeddings is None else SentenceVectors.read(embeddings, narratives)
