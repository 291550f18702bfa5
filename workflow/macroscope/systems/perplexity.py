"""Perplexity of systems' models: its declaration as a stage, and its summary as statistics."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.stages import Stage
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.resampling import Resampling

SUMMARISE = "summarise_perplexity"
"""Stage that turns the perplexity of documents into statistics of a system."""


def summary_stage(measured: Stage) -> Stage:
    """Declare the summary of what a stage `measure_perplexity` writes; it is signed with that stage's options."""
    return Stage(
        "macroscope.systems.perplexity:summarise_perplexity",
        inputs="perplexity corpus system resampling",
        options=measured.options,
    )


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
