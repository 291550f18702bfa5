"""Flags that say how uncertainty is computed, shared by the verbs that compute it."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # the command line must start at once
    from macroscope.statistics.latent import Resampling

Resamples = Annotated[int, typer.Option(min=100, help="Bootstrap resamples of documents.")]
Permutations = Annotated[int, typer.Option(min=100, help="Permutations of a p-value.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Level of the intervals.")]
Seed = Annotated[int, typer.Option(help="Seed.")]


def resampling_of(resamples: int, permutations: int, confidence: float, seed: int) -> "Resampling":
    """Return the flags as the statistics room takes them."""
    from macroscope.statistics.latent import Resampling

    return Resampling(resamples, permutations, confidence, seed)
