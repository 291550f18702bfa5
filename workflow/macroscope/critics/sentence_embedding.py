"""Embedding of sentences: those of a collection in a stream, each one once."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.narratives import split_narratives
from macroscope.critics.sentence_encoding import SentenceEncoding
from macroscope.critics.sentence_vectors import KnownSentences, SentenceVectors, digest_sentences
from macroscope.critics.text_encoder import TextEncoder
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError
from macroscope.files import atomic

EmbeddedSentences = tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]
"""Vectors (sentences x width), and whether each sentence was cut."""


def embed_sentences(
    documents: Path | None = None,
    texts: Collection | None = None,
    known_sentences: Path | None = None,
    *,
    options: SentenceEncoding,
    language: str,
    output: Path,
) -> None:
    """Embed every sentence of a collection in a stream; see `sentence_vectors.SentenceVectors`.

    Parameters
    ----------
    documents, texts
        A corpus, whose source may give its sentences, or a system's texts.
    known_sentences
        Folder of vectors of the same encoding, which are read instead of being computed again.

    Raises
    ------
    MacroscopeError
        If neither a corpus nor texts are given.
    """
    if documents is not None:
        texts = Collection(documents)
    if texts is None:
        raise MacroscopeError("--input: there are no texts to embed; give --input documents=... or --input texts=...")
    embedder = SentenceEmbedder(lambda: load_sentence_encoder(options), known_sentences)
    ids: list[str] = []
    lengths: list[int] = []
    digests = [digest_sentences([])]
    with atomic(output) as folder:
        folder.mkdir()
        parts = folder / "parts"
        with parts.open("wb") as stream:
            for batch in texts.batches():
                narratives = split_narratives(batch, options.segmenter(language), from_source=documents is not None)
                vectors, cut = embedder.embed(narratives.sentences)
                stream.write(np.hstack([vectors, cut[:, None].astype(np.float16)]).tobytes())
                ids += narratives.ids
                lengths += narratives.lengths.tolist()
                digests.append(digest_sentences(narratives.sentences))
        counts = np.array(lengths, dtype=np.int64)
        SentenceVectors.write(folder, ids, counts, np.concatenate(digests), parts, embedder.width)
        parts.unlink()


class SentenceEmbedder:
    """An encoder of sentences that is loaded at the first sentence whose vector is not known.

    Parameters
    ----------
    load
        Function that loads the encoder.
    known_sentences
        Folder of vectors of the same encoding; None: no vector is known.
    """

    def __init__(self, load: Callable[[], TextEncoder], known_sentences: Path | None = None) -> None:
        self._load = load
        self._encoder: TextEncoder | None = None
        self._stored = None if known_sentences is None else KnownSentences(known_sentences)

    @property
    def encoder(self) -> TextEncoder:
        """Return the encoder."""
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder

    @property
    def width(self) -> int:
        """Return the dimension of a vector."""
        return self.encoder.width if self._stored is None else self._stored.width

    def embed(self, sentences: Sequence[str]) -> EmbeddedSentences:
        """Embed sentences, repeated ones only once, and none whose vector is known."""
        unique = list(dict.fromkeys(sentences))
        position = {sentence: number for number, sentence in enumerate(unique)}
        order = np.array([position[sentence] for sentence in sentences], dtype=np.int64)
        vectors = np.empty((len(unique), self.width), dtype=np.float16)
        cut = np.empty(len(unique), dtype=bool)
        numbers = np.full(len(unique), -1) if self._stored is None else self._stored.find(unique)
        if self._stored is not None:
            vectors[numbers >= 0], cut[numbers >= 0] = self._stored.read(numbers[numbers >= 0])
        new = np.flatnonzero(numbers < 0)
        if len(new):
            vectors[new], cut[new] = self.encoder.embed([unique[number] for number in new])
        return vectors[order], cut[order]


def load_sentence_encoder(encoding: SentenceEncoding) -> TextEncoder:
    """Load the encoder of an encoding."""
    return TextEncoder(encoding.encoder, encoding.pooling, encoding.max_tokens, encoding.precision)
