"""Perplexity of systems' models: its summary as statistics."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.resampling import Resampling


def summarise_perplexity(
    perplexity: Path, output: Path, options: SystemOptions, *, corpus: str, system: str, resampling: "Resampling"
) -> None:
    """Write the perplexity per token and per word on the test split, with intervals over documents.

    Parameters
    ----------
    perplexity
        Per document: `nll` (nats), `tokens`, `words`.
    """
    from macroscope.statistics.comparison import perplexity_table

    signature, intervals = options.perplexity_signature(), replace(resampling, permutations=0)
    perplexity_table(perplexity, output, corpus=corpus, system=system, signature=signature, resampling=intervals)
