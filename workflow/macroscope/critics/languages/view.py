"""What the languages critic sees of a single document: its topic proportions, and how unlikely its prior finds them."""

from pathlib import Path

import numpy as np

from macroscope.critics.languages.latents import read_proportions
from macroscope.critics.views import with_scores
from macroscope.statistics.telling_apart import View


def view(latents: Path, scores: Path | None) -> View:
    """Log proportions of every document with a word of the vocabulary, and what `views.of_scores` sees of it."""
    found = read_proportions(latents)
    known = np.isfinite(found.log_mean).all(axis=1)
    return with_scores(View(found.keys[known].reset_index(drop=True), found.log_mean[known]), latents, scores)
