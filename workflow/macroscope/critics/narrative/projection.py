"""Projection of documents onto probabilities of missing and of discordant sentences, order, and incoherence."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from macroscope.critics.latents import batches_with_progress, write_latents
from macroscope.critics.narrative.detector import Detector, read_narratives
from macroscope.critics.narrative.incoherence import Scale, describe_incoherence, measure_incoherence, read_scales
from macroscope.critics.narrative.latents import INCOHERENCE, LATENTS, ORDER, ORDER_MODEL, TASKS
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narrative.sentence_order import OrderModel, judge_orders
from macroscope.critics.narratives import Narratives, split_narratives
from macroscope.critics.options import encoding_of
from macroscope.critics.text_encoder import SentenceEmbedder, TextEncoder, embed_sentences, load_sentence_encoder
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress
from macroscope.statistics.document_groups import KEYS

# ---- sentence embeddings ---------------------------------------------------------------------------------------------


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


def project(
    texts: Collection,
    inference: Path,
    sentence_vectors: Path | None = None,
    embeddings: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    output: Path,
    signature: str = "",
) -> None:
    """Compute every narrative's latents; see `macroscope.critics.narrative.latents`.

    Parameters
    ----------
    inference
        Folder with a detector for each task, the scales of the incoherence, and the model of the order if there is one.
    sentence_vectors
        Vectors of sentences (`sentence_vectors.SentenceVectors`); those of others are computed here, if a detector
        reads them.
    embeddings
        The same by an encoder that an autoencoder has trained, of all sentences.
    """
    detectors = {task: Detector.load(inference / task) for task in options.tasks}
    reads_embeddings = any(detector.level != "token" for detector in detectors.values())
    order = OrderModel.load(inference / ORDER_MODEL) if (inference / ORDER_MODEL).exists() else None
    scales = read_scales(inference)
    embedder = sentence_embedder(options, sentence_vectors or embeddings) if reads_embeddings else None
    batches = batches_with_progress(texts, Progress("read narratives", len(texts), "documents"))

    def tables() -> Iterator[pa.Table]:
        for batch in batches:
            narratives = split_narratives(batch, options.segmenter(language), from_source=False)
            if embedder is not None:
                narratives = narratives.with_vectors(*embedder.embed(narratives.sentences))
            yield _latents_table(narratives, detectors, order, scales)

    write_latents(output, LATENTS, tables(), signature)


def _latents_table(
    narratives: Narratives,
    detectors: Mapping[Task, Detector],
    order: OrderModel | None,
    scales: Mapping[str, Scale],
) -> pa.Table:
    ends = narratives.starts[1:], narratives.starts[:-1]
    cut = np.zeros(len(narratives.sentences) + 1, dtype=np.int64)
    token = next((detector for detector in detectors.values() if detector.level == "token"), None)
    was_cut = narratives.cut if token is None else token.cut(narratives)
    cut[1:] = np.cumsum(was_cut) if was_cut is not None else 0
    columns: dict[str, object] = {
        "id": narratives.ids,
        KEYS[1]: narratives.openings,
        "sentences": narratives.lengths,
        "cut": cut[ends[0]] - cut[ends[1]],
    }
    probabilities = {task: read_narratives(detector, narratives) for task, detector in detectors.items()}
    columns |= {task: probabilities[task] if task in probabilities else [None] * len(narratives) for task in TASKS}
    odds = None if order is None else judge_orders(narratives, order)
    columns[ORDER] = [None] * len(narratives) if odds is None else [_null(value) for value in odds]
    incoherence = measure_incoherence(describe_incoherence(probabilities, odds), scales)
    columns[INCOHERENCE] = [_null(value) for value in incoherence]
    return pa.Table.from_pydict(columns, LATENTS)


def _null(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
