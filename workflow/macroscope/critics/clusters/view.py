"""What the clusters critic sees of a single document: its embedding."""

from pathlib import Path

from macroscope.critics.clusters.latents import read_embeddings
from macroscope.statistics.telling_apart import View


def view(latents: Path, scores: Path | None) -> View:
    """The embedding of every document that has one."""
    texts = read_embeddings(latents)
    texts = texts.some(texts.known())
    return View(texts.keys.reset_index(drop=True), texts.vectors.astype(float))
