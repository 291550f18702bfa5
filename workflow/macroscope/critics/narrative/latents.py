"""Latents of the narrative critic on disk: detectors' probabilities at the places of each narrative.

Columns: `id`; `opening` (`documents.opening_of`); `sentences`, number of sentences; `cut`, number of sentences longer
than the encoder's limit; `missing`, for each slot between two sentences the probability that a sentence is missing
there; `discordant`, for each sentence the probability that it replaces another one. Lists are empty for a narrative of
one sentence, which has no context, and null for a task that the critic does not have.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from macroscope.critics.latents import read_batches
from macroscope.statistics.pairing_keys import KEYS

DETECTOR_INFO, WEIGHTS, ENCODER = "detector.json", "model.safetensors", "encoder"
TRAINING = "training.json"
METRICS, ROC, ERRORS, EVALUATION, SPEED = "metrics.csv", "roc.csv", "errors.csv", "evaluation.json", "speed.json"
OPERATING_POINT, DETECTION_COUNTS = "operating_point.json", "found.csv"


TASKS = ("missing", "discordant")
LATENTS = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in KEYS),
        pa.field("sentences", pa.int32(), nullable=False),
        pa.field("cut", pa.int32(), nullable=False),
        *(pa.field(task, pa.list_(pa.float32())) for task in TASKS),
    ]
)


def read_latents(path: Path) -> Iterator[pd.DataFrame]:
    """Stream the latents of a system."""
    return read_batches(path, "sentence probabilities")
