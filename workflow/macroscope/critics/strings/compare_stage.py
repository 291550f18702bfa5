"""The stage `compare`: texts in, statistics and evidence out."""

from contextlib import ExitStack
from pathlib import Path

import pandas as pd

from macroscope.critics.latents import read_batches
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.evidence import write_evidence
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import read_texts
from macroscope.critics.subsampling import subsampled
from macroscope.statistics.latent import Resampling


def compare_latents(
    control_latents: Path, latents: Path, *, options: StringsOptions, resampling: Resampling, evidence: Path
) -> pd.DataFrame:
    """Compare the texts of a system with the control's, and write the evidence; see `critics.split_half`.

    Of more than `most_texts` a side so many are estimated from and scored; how many of all are empty or duplicates is
    counted on all.
    """
    with ExitStack() as stack:

        def some_of(path: Path) -> Path:
            return stack.enter_context(subsampled(path, None, resampling.seed, options.most_texts))[0]

        control = some_of(control_latents)
        compared = compare_with_control(
            control,
            control if latents == control_latents else some_of(latents),
            read=read_texts,
            describe=lambda _: describe(read_batches(latents, "texts", ["text", "words"]), resampling.confidence),
            compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
            halves=lambda side: (side.every_other(1), side.every_other(0)),
        )
    write_evidence(evidence, compared.found)
    return compared.table
