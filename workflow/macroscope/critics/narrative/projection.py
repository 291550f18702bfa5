"""Projection onto probabilities of missing and of discordant sentences: documents -> latents."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.latents import signed
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.embedding import embedded, require_plain, sentence_encoder
from macroscope.critics.narrative.latents import LATENTS, TASKS
from macroscope.critics.narrative.narratives import Narratives, SentenceVectors, narratives_of
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narrative.sliding_window import read_narratives
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope.progress import Progress
from macroscope.statistics.pairing_keys import KEYS


def project(
    texts: Collection,
    inference: Path,
    embeddings: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    output: Path,
    signature: str = "",
) -> None:
    """Let the detectors read every narrative; see `macroscope.critics.narrative.latents`.

    Parameters
    ----------
    inference
        Folder with a detector for each task.
    embeddings
        Of the sentences of these texts; default: they are computed here, where a detector reads them.
    """
    detectors = {task: Detector.load(inference / task) for task in options.tasks}
    reads_embeddings = any(detector.level == "sentence" for detector in detectors.values())
    encoder = None
    if reads_embeddings and embeddings is None:
        require_plain(options)
        encoder = sentence_encoder(options)
    done = 0
    with (
        atomic(output) as temporary,
        pq.ParquetWriter(temporary, signed(LATENTS, signature), compression="zstd") as writer,
        Progress("read narratives", len(texts), "documents") as progress,
    ):
        for batch in texts.batches():
            told = narratives_of(batch, language, known=False)
            if encoder is not None:
                told = told.with_vectors(*embedded(told.sentences, encoder))
            elif reads_embeddings and embeddings is not None:
                told = SentenceVectors.read(embeddings, told, done)
            writer.write_table(_read(told, detectors).replace_schema_metadata(signed(LATENTS, signature).metadata))
            done += len(batch)
            progress.advance(len(batch))


def _read(told: Narratives, detectors: Mapping[Task, Detector]) -> pa.Table:
    ends = told.starts[1:], told.starts[:-1]
    cut = np.zeros(len(told.sentences) + 1, dtype=np.int64)
    token = next((detector for detector in detectors.values() if detector.level == "token"), None)
    was_cut = told.cut if token is None else token.cut(told)
    cut[1:] = np.cumsum(was_cut) if was_cut is not None else 0
    columns = {
        "id": told.ids,
        KEYS[1]: told.openings,
        "sentences": told.lengths,
        "cut": cut[ends[0]] - cut[ends[1]],
    }
    probabilities: dict[str, object] = {task: read_narratives(detector, told) for task, detector in detectors.items()}
    columns |= {task: probabilities.get(task, [None] * len(told)) for task in TASKS}
    return pa.Table.from_pydict(columns, LATENTS)
