"""Latents of the narrative critic on disk: what a detector sees in each narrative.

Columns: `id`; `opening` (`documents.opening_of`); `sentences`, how many the narrative has; `cut`, how many of them are
longer than the encoder takes; `missing`, for each slot between two sentences the probability that a sentence is missing
there, and `discordant`, for each sentence the probability that it stands for another one. A list is empty for a
narrative of one sentence, which follows from nothing, and null for a task that the critic does not have.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from macroscope.critics.latents import read_batches
from macroscope.statistics.pairing_keys import KEYS

ABOUT, WEIGHTS, ENCODER = "detector.json", "model.safetensors", "encoder"
TRAINING = "training.json"
METRICS, ROC, ERRORS, EVALUATION, SPEED = "metrics.csv", "roc.csv", "errors.csv", "evaluation.json", "speed.json"
POINT, FOUND = "operating_point.json", "found.csv"


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
