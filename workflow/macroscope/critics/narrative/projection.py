"""Projection of documents onto probabilities of missing and of discordant sentences, order, and incoherence."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from macroscope.critics.latents import batches_with_progress, write_latents
from macroscope.critics.narrative.detector import Detector, read_narratives
from macroscope.critics.narrative.embedding import embed_unique, load_sentence_encoder, require_plain_encoder
from macroscope.critics.narrative.incoherence import Scale, describe_incoherence, measure_incoherence, read_scales
from macroscope.critics.narrative.latents import INCOHERENCE, LATENTS, ORDER, ORDER_MODEL, TASKS
from macroscope.critics.narrative.narratives import KnownSentences, Narratives, SentenceVectors, split_narratives
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narrative.sentence_order import OrderModel, judge_orders
from macroscope.documents import Collection
from macroscope.progress import Progress
from macroscope.statistics.pairing_keys import KEYS


def project(
    texts: Collection,
    inference: Path,
    embeddings: Path | None = None,
    known_sentences: Path | None = None,
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
    embeddings
        Embeddings of these texts' sentences; default: they are computed here, if a detector reads them.
    known_sentences
        Embeddings of the corpus's sentences, of which its held-out and its damaged texts have most.
    """
    detectors = {task: Detector.load(inference / task) for task in options.tasks}
    reads_embeddings = any(detector.level != "token" for detector in detectors.values())
    order = OrderModel.load(inference / ORDER_MODEL) if (inference / ORDER_MODEL).exists() else None
    scales = read_scales(inference)
    encoder = None
    if reads_embeddings and embeddings is None:
        require_plain_encoder(options)
        encoder = load_sentence_encoder(options)
    stored = None if known_sentences is None else KnownSentences(known_sentences)
    batches = batches_with_progress(texts, Progress("read narratives", len(texts), "documents"))

    def tables() -> Iterator[pa.Table]:
        done = 0
        for batch in batches:
            narratives = split_narratives(batch, language, from_source=False)
            if encoder is not None:
                narratives = narratives.with_vectors(*embed_unique(narratives.sentences, encoder, stored))
            elif reads_embeddings and embeddings is not None:
                narratives = SentenceVectors.read(embeddings, narratives, done)
            yield _latents_table(narratives, detectors, order, scales)
            done += len(batch)

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
