"""Sentences written where one is missing, or in place of a discordant one (cai2020 §4.3, Table 4)."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.narrative.autoencoder import Decoder
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.embedding import corpus_narratives
from macroscope.critics.narrative.evaluation import marked_text
from macroscope.critics.narrative.examples import read_examples
from macroscope.critics.narrative.generation import GENERATED, GENERATION, generation_metrics
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.statistics.latent import Resampling


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
    places = np.argwhere(test.labels == 1)[: options.generation.most_sentences]
    predicted = loaded.outputs(narratives, test.inputs, "predicted")[tuple(places.T)]
    asked = options.generation
    writer = Decoder(autoencoder, predicted.shape[1])
    written = writer.write(predicted, asked.beams, asked.max_tokens)
    true = [narratives.sentences[number] for number in test.targets[tuple(places.T)]]
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
        table.to_csv(folder / GENERATED, index=False)
        generation_metrics(written, true, resampling).to_csv(folder / GENERATION, index=False)
