"""Sentence embeddings, computed once per collection and read by every detector (cai2020 §4.2)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.narratives import KnownSentences, SentenceVectors, digest_sentences, split_narratives
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.text_encoder import TextEncoder
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError
from macroscope.files import atomic

EmbeddedSentences = tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]
"""Vectors (sentences x width), and whether each sentence was cut."""


def embed_sentences(
    documents: Path | None = None,
    texts: Collection | None = None,
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
        A corpus, whose source may give its sentences, or a system's texts.
    autoencoder
        Folder of the autoencoder whose encoder embeds; default: the encoder of the options.

    Raises
    ------
    MacroscopeError
        If neither a corpus nor texts are given.
    """
    if documents is not None:
        texts = Collection(documents)
    if texts is None:
        raise MacroscopeError("--input: there are no texts to embed; give --input documents=... or --input texts=...")
    encoder = load_sentence_encoder(options, autoencoder)
    ids: list[str] = []
    lengths: list[int] = []
    digests = [digest_sentences([])]
    with atomic(output) as folder:
        folder.mkdir()
        parts = folder / "parts"
        with parts.open("wb") as stream:
            for batch in texts.batches():
                narratives = split_narratives(batch, language, from_source=documents is not None)
                vectors, cut = embed_unique(narratives.sentences, encoder)
                stream.write(np.hstack([vectors, cut[:, None].astype(np.float16)]).tobytes())
                ids += narratives.ids
                lengths += narratives.lengths.tolist()
                digests.append(digest_sentences(narratives.sentences))
        counts = np.array(lengths, dtype=np.int64)
        SentenceVectors.write(folder, ids, counts, np.concatenate(digests), parts, encoder.width)
        parts.unlink()


def embed_unique(
    sentences: Sequence[str], encoder: TextEncoder, stored: KnownSentences | None = None
) -> EmbeddedSentences:
    """Embed sentences, repeated ones only once, and none whose embedding is known."""
    unique = list(dict.fromkeys(sentences))
    position = {sentence: number for number, sentence in enumerate(unique)}
    order = np.array([position[sentence] for sentence in sentences], dtype=np.int64)
    vectors = np.empty((len(unique), encoder.width), dtype=np.float16)
    cut = np.empty(len(unique), dtype=bool)
    numbers = np.full(len(unique), -1) if stored is None else stored.find(unique)
    if stored is not None:
        vectors[numbers >= 0], cut[numbers >= 0] = stored.read(numbers[numbers >= 0])
    new = np.flatnonzero(numbers < 0)
    if len(new):
        vectors[new], cut[new] = encoder.embed([unique[number] for number in new])
    return vectors[order], cut[order]


def load_sentence_encoder(options: NarrativeOptions, autoencoder: Path | None = None) -> TextEncoder:
    """Load the encoder of the options, or that of an autoencoder."""
    name = options.encoder if autoencoder is None else str(autoencoder / "encoder")
    return TextEncoder(name, options.pooling, options.max_tokens, options.precision)


def require_plain_encoder(options: NarrativeOptions) -> None:
    """Check that the judge uses the encoder of the options, not one that an autoencoder has trained.

    The embeddings of a trained encoder must be given as input; computing them with the original encoder would silently
    give other ones.

    Raises
    ------
    MacroscopeError
        If the judge's autoencoder trains its encoder.
    """
    name = options.detector.autoencoder
    if name is not None and options.autoencoders[name].train_encoder:
        raise MacroscopeError(
            f"the judge reads the embeddings of autoencoder '{name}', which are missing; give them as 'embeddings'"
        )
