"""Features of single documents: their scores, and the order of their sentences."""

from pathlib import Path

import numpy as np

from macroscope.critics.features import read_score_features
from macroscope.critics.latents import read_numbers
from macroscope.critics.narrative.latents import ORDER
from macroscope.statistics.document_features import DocumentFeatures


def read_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read the scores (`critics.features`), followed by the log odds of the order; NaN if it is not judged."""
    scored = read_score_features(latents, scores)
    keys, numbers = read_numbers(latents)
    order = numbers[ORDER].set_axis(keys["id"]).reindex(scored.keys["id"]).to_numpy(float)
    return DocumentFeatures(scored.keys, np.column_stack([scored.numbers, order]), scored.bags)
