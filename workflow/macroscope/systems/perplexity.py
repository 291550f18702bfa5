"""Perplexity of systems' models: its summary as statistics."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from macroscope.options import Resampling
from macroscope.stages import describe_versions
from macroscope.statistics.latent import pooled_perplexity
from macroscope.statistics.tidy import Estimate, sized_row, write_statistics
from macroscope.systems import kinds
from macroscope.systems.declaration import MEASURE, SUMMARISE
from macroscope.systems.options import SystemOptions


def summarise_perplexity(
    perplexity: Path, output: Path, options: SystemOptions, *, corpus: str, system: str, resampling: Resampling
) -> None:
    """Write the perplexity per token and per word on the test split, with bootstrap intervals over documents.

    Parameters
    ----------
    perplexity
        Per document: `nll` (nats), `tokens`, `words`.
    output
        CSV to write.
    """
    documents = pd.read_parquet(perplexity)
    stages = kinds()[options.kind].data.all_stages
    versions = {name: stages[name].version for name in (MEASURE, SUMMARISE)}
    rows = []
    for unit in ("token", "word"):
        value, low, high = pooled_perplexity(documents["nll"].to_numpy(), documents[f"{unit}s"].to_numpy(), resampling)
        rows.append(sized_row(Estimate(f"{unit}_ppl", value, low, high), (0, len(documents))))
    write_statistics(
        pd.DataFrame(rows).assign(seed=resampling.seed),
        output,
        corpus=corpus,
        system=system,
        critic="perplexity",
        resampling=replace(resampling, permutations=0),
        signature=f"{options.perplexity_signature()}|{describe_versions(versions)}",
    )
