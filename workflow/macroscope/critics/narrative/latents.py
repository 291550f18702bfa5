"""Latents of the narrative critic on disk: detectors' probabilities at the places of each narrative.

Columns: `id`; `opening` (`Document.opening`); `sentences`, number of sentences; `cut`, number of sentences longer
than the encoder's limit; `missing`, for each slot between two sentences the probability that a sentence is missing
there; `discordant`, for each sentence the probability that it replaces another one; `order`, the log odds that the
sentences stand in their author's order (`sentence_order`); `incoherence`, one number of all these (`incoherence`).
Lists are empty for a narrative of one sentence, which has no context and no incoherence, and null for a task that the
critic does not have. `order` is null for fewer than three sentences, for a critic that learned from too few narratives,
and for one that reads no embeddings.
"""

import pyarrow as pa

from macroscope.critics.latents import latents_schema

DETECTOR_INFO, WEIGHTS, ENCODER = "detector.json", "model.safetensors", "encoder"
TRAINING = "training.json"
METRICS, ROC, ERRORS, EVALUATION, SPEED = "metrics.csv", "roc.csv", "errors.csv", "evaluation.json", "speed.json"
OPERATING_POINT, DETECTION_COUNTS = "operating_point.json", "found.csv"
ORDER, ORDER_MODEL = "order", "order.npz"
"""Column of the log odds of the order, and file of the model."""
INCOHERENCE = "incoherence"
"""Column of the one number of a narrative; see `incoherence`."""

TASKS = ("missing", "discordant")
LATENTS = latents_schema(
    pa.field("sentences", pa.int32(), nullable=False),
    pa.field("cut", pa.int32(), nullable=False),
    *(pa.field(task, pa.list_(pa.float32())) for task in TASKS),
    pa.field(ORDER, pa.float64()),
    pa.field(INCOHERENCE, pa.float64()),
)
