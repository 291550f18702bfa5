"""Infilling: generation of sentences for gaps, or in place of discordant sentences (cai2020 §4.3, Table 4)."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.narrative.autoencoder import Decoder
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.evaluation import mark_text
from macroscope.critics.narrative.examples import read_examples
from macroscope.critics.narrative.generation import (
    GENERATED,
    GENERATION,
    compute_generation_metrics,
    read_wordnet,
)
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narratives import Vectors
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.tables import write_csv

MOST_LENGTHS = 10_000
"""Largest number of embeddings over which their mean length is computed."""


def infill(
    documents: Path,
    detector: Path,
    embeddings: Path,
    corrupted: Path,
    autoencoder: Path,
    wordnet: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    resampling: Resampling,
    task: Task,
    output: Path,
) -> None:
    """Generate a sentence for each damaged place of the test split, from the embedding that the detector predicts.

    The places are those that were damaged, not those that are detected. The folder `output` receives generation.csv
    (see `generation.compute_generation_metrics`) and generated.csv (id, context, true, generated).

    Parameters
    ----------
    wordnet
        Zip of WordNet, for METEOR's synonyms.

    Raises
    ------
    MacroscopeError
        If the test split has no damaged segments.
    """
    narratives = read_corpus_narratives(documents, options.segmenter(language), embeddings)
    test = read_examples(corrupted)[0].get("test")
    if test is None or not test.damaged.any():
        raise MacroscopeError(
            f"{corrupted}: split 'test' has no damaged segments to generate sentences for; give longer or more"
            " documents"
        )
    loaded = Detector.load(detector)
    generation = options.generation
    places = np.argwhere(test.labels == 1)[: generation.most_sentences]
    rows, row_numbers = np.unique(places[:, 0], return_inverse=True)
    predicted = loaded.outputs(narratives, test.inputs[rows], "predicted")[row_numbers, places[:, 1]]
    assert narratives.vectors is not None
    predicted = rescale_to_mean_length(narratives.vectors[:MOST_LENGTHS], predicted)
    writer = Decoder(autoencoder, predicted.shape[1])
    written = writer.generate(predicted, generation.beams, generation.max_tokens)
    true = [narratives.sentences[number] for number in test.targets[tuple(places.T)]]
    stories = narratives.families[test.narratives[places[:, 0]]]
    table = pd.DataFrame(
        {
            "id": [narratives.ids[test.narratives[row]] for row, _ in places],
            "context": [mark_text(narratives, test.inputs[row], int(position), task) for row, position in places],
            "true": true,
            "generated": written,
        }
    )
    reader = None if wordnet is None else read_wordnet(wordnet)
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(table, folder / GENERATED)
        write_csv(compute_generation_metrics(written, true, stories, resampling, reader), folder / GENERATION)


def rescale_to_mean_length(vectors: Vectors, predicted: Vectors) -> npt.NDArray[np.float64]:
    """Rescale predicted embeddings to the mean length of real ones, since eq. 2 determines only their direction."""
    length = np.linalg.norm(np.asarray(vectors, dtype=float), axis=1).mean()
    lengths = np.linalg.norm(predicted, axis=1, keepdims=True)
    return np.asarray(predicted * (length / np.maximum(lengths, 1e-12)), dtype=float)
