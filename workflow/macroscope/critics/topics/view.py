"""What the topics critic sees of a single document: its topic strengths, and how unlikely its prior finds them."""

from pathlib import Path

import numpy as np

from macroscope.critics.topics.latents import read_strengths
from macroscope.critics.views import with_scores
from macroscope.statistics.telling_apart import View


def view(latents: Path, scores: Path | None) -> View:
    """Topic strengths of every document that has a word of the vocabulary, and what `views.of_scores` sees of it."""
    found = read_strengths(latents)
    known = np.isfinite(found.mean).all(axis=1)
    return with_scores(View(found.keys[known].reset_index(drop=True), found.mean[known]), latents, scores)
