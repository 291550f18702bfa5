"""Sentence embeddings by the encoder of the options, or by one that an autoencoder has trained (cai2020 §4.3)."""

from pathlib import Path

from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.options import encoding_of
from macroscope.critics.text_encoder import SentenceEmbedder, TextEncoder, embed_sentences, load_sentence_encoder
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError


def embed_by_autoencoder(
    autoencoder: Path,
    documents: Path | None = None,
    texts: Collection | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    output: Path,
) -> None:
    """Embed every sentence of a collection by the encoder in an autoencoder's folder.

    Parameters
    ----------
    documents, texts
        See `text_encoder.embed_sentences`.
    """
    encoding = encoding_of(options, encoder=str(autoencoder / "encoder"))
    embed_sentences(documents, texts, options=encoding, language=language, output=output)


def sentence_embedder(options: NarrativeOptions, sentence_vectors: Path | None = None) -> SentenceEmbedder:
    """Return what embeds the judge's sentences, and reads the vectors in a folder instead of computing them.

    If an autoencoder has trained the judge's encoder, all vectors must be given: computing them with the original
    encoder would silently give other ones, and is an error.
    """

    def load() -> TextEncoder:
        name = options.trained_encoder(options.detector)
        if name is not None:
            raise MacroscopeError(
                f"the judge reads the embeddings of autoencoder '{name}', which are missing; give them as 'embeddings'"
            )
        return load_sentence_encoder(encoding_of(options))

    return SentenceEmbedder(load, sentence_vectors)
