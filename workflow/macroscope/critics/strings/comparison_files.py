"""The files of a comparison: texts in, rows and evidence out."""

from pathlib import Path

import pandas as pd

from macroscope.critics.halves import compare_with_control
from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.evidence import write_evidence
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import read_texts
from macroscope.statistics.latent import Resampling


def compare_latents(
    control_latents: Path, latents: Path, *, options: StringsOptions, resampling: Resampling, evidence: Path
) -> pd.DataFrame:
    """Compare the texts of a system with the control's, and write the evidence; see `critics.halves`."""
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_texts,
        describe=lambda side: describe(side, resampling.confidence),
        compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
        halves=lambda side: (side.every_other(1), side.every_other(0)),
    )
    write_evidence(evidence, compared.found)
    return compared.table
