"""Embedding of sentences: computed once for a collection, and read by every detector (cai2020 §4.2)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.narratives import SentenceVectors, narratives_of
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.text_encoder import TextEncoder
from macroscope.documents import DOCUMENTS_AT_ONCE, Collection, in_batches
from macroscope.errors import MacroscopeError
from macroscope.files import atomic

Embedded = tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]
"""Vectors (sentences x width), and whether each sentence was cut."""


def embed_sentences(
    documents: Path | None = None,
    texts: Path | Collection | None = None,
    autoencoder: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    output: Path,
) -> None:
    """Embed every sentence of a collection in a stream; see `narratives.SentenceVectors`.

    Parameters
    ----------
    documents, texts
        A corpus, whose sentences may be known, or a system's texts.
    autoencoder
        Folder of an autoencoder whose encoder embeds; default: the encoder of the options.
    """
    encoder = sentence_encoder(options, autoencoder)
    collection = texts if isinstance(texts, Collection) else Collection(texts or documents)  # type: ignore[arg-type]
    ids: list[str] = []
    lengths: list[int] = []
    with atomic(output) as folder:
        folder.mkdir()
        parts = folder / "parts"
        with parts.open("wb") as stream:
            for batch in in_batches(collection, DOCUMENTS_AT_ONCE):
                some = narratives_of(batch, language, known=texts is None)
                vectors, cut = embedded(some.sentences, encoder)
                stream.write(np.hstack([vectors, cut[:, None].astype(np.float16)]).tobytes())
                ids += some.ids
                lengths += some.lengths.tolist()
        SentenceVectors.write(folder, ids, np.array(lengths, dtype=np.int64), parts, encoder.width)
        parts.unlink()


def embedded(sentences: Sequence[str], encoder: TextEncoder) -> Embedded:
    """Embed sentences, those that occur several times once."""
    different = list(dict.fromkeys(sentences))
    place = {sentence: number for number, sentence in enumerate(different)}
    order = np.array([place[sentence] for sentence in sentences], dtype=np.int64)
    if not different:
        return np.empty((0, encoder.width), dtype=np.float16), np.empty(0, dtype=bool)
    vectors, cut = encoder.embed(different)
    return vectors.astype(np.float16)[order], cut[order]


def sentence_encoder(options: NarrativeOptions, autoencoder: Path | None = None) -> TextEncoder:
    """Load what embeds: the encoder of the options, or that of an autoencoder."""
    name = options.encoder if autoencoder is None else str(autoencoder / "encoder")
    return TextEncoder(name, options.pooling, options.max_tokens, options.precision)


def require_plain(options: NarrativeOptions) -> None:
    """Embeddings are given where an autoencoder makes them: the encoder as it is would give others, in silence."""
    name = options.detector.autoencoder
    if name is not None and options.autoencoders[name].train_encoder:
        raise MacroscopeError(f"the judge reads the embeddings of autoencoder '{name}': give them as 'embeddings'")
