"""Sentences written where one is missing, or in place of a discordant one (cai2020 §4.3, Table 4)."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.narrative.autoencoder import Decoder
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.evaluation import marked_text
from macroscope.critics.narrative.examples import read_examples
from macroscope.critics.narrative.generation import GENERATED, GENERATION, generation_metrics
from macroscope.critics.narrative.narratives import Vectors, corpus_narratives
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.statistics.latent import Resampling
from macroscope.tables import write_csv

LENGTHS_OF = 10_000
"""Sentences, at most, whose embeddings tell how long an embedding is."""


def infill(
    documents: Path,
    detector: Path,
    embeddings: Path,
    corrupted: Path,
    autoencoder: Path,
    *,
    options: NarrativeOptions,
    language: str,
    resampling: Resampling,
    task: Task,
    output: Path,
) -> None:
    """Write a sentence at each damaged place of the test split, from the embedding that the detector predicts there.

    The places are those that were damaged, not those that the detector finds. Writes into the folder `output`
    generation.csv (see `generation.generation_metrics`) and generated.csv (id, context, true, generated).
    """
    narratives = corpus_narratives(documents, language, embeddings)
    test = read_examples(corrupted)[0].get("test")
    if test is None or not test.damaged.any():
        raise MacroscopeError(f"{corrupted}: no damaged segments of split 'test' to write sentences into")
    loaded = Detector.load(detector)
    asked = options.generation
    places = np.argwhere(test.labels == 1)[: asked.most_sentences]
    rows, where = np.unique(places[:, 0], return_inverse=True)
    predicted = loaded.outputs(narratives, test.inputs[rows], "predicted")[where, places[:, 1]]
    assert narratives.vectors is not None
    predicted = as_long_as(narratives.vectors[:LENGTHS_OF], predicted)
    writer = Decoder(autoencoder, predicted.shape[1])
    written = writer.write(predicted, asked.beams, asked.max_tokens)
    true = [narratives.sentences[number] for number in test.targets[tuple(places.T)]]
    stories = narratives.families[test.narratives[places[:, 0]]]
    table = pd.DataFrame(
        {
            "id": [narratives.ids[test.narratives[row]] for row, _ in places],
            "context": [marked_text(narratives, test.inputs[row], int(at), task) for row, at in places],
            "true": true,
            "generated": written,
        }
    )
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(table, folder / GENERATED)
        write_csv(generation_metrics(written, true, stories, resampling), folder / GENERATION)


def as_long_as(vectors: Vectors, predicted: Vectors) -> npt.NDArray[np.float64]:
    """Predicted embeddings with the mean length of real ones: eq. 2 says of their direction alone."""
    length = np.linalg.norm(np.asarray(vectors, dtype=float), axis=1).mean()
    own = np.linalg.norm(predicted, axis=1, keepdims=True)
    return np.asarray(predicted * (length / np.maximum(own, 1e-12)), dtype=float)
