"""Stage `compare`: statistics and evidence from the texts of a system and the control."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pandas as pd

from macroscope.critics.latents import stream_latents
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.evidence import write_evidence
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import LATENTS, read_texts
from macroscope.critics.subsampling import subsample
from macroscope.resampling import Resampling


def compare_latents(
    control_latents: Path, latents: Path, *, options: StringsOptions, resampling: Resampling, evidence: Path
) -> pd.DataFrame:
    """Compare the texts of a system with the control's, and write the evidence; see `critics.split_half`.

    Estimation and scoring use at most `most_texts` of the control and of the system; empty and duplicate texts are
    counted over all.
    """
    with ExitStack() as stack:

        def subsample_latents(path: Path) -> Path:
            return stack.enter_context(subsample(path, None, resampling.seed, options.most_texts))[0]

        control = subsample_latents(control_latents)
        compared = compare_with_control(
            control,
            control if latents == control_latents else subsample_latents(latents),
            read=read_texts,
            describe=lambda _: describe(_stream_texts(latents), resampling.confidence),
            compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
            halves=lambda texts: (texts.every_other(1), texts.every_other(0)),
        )
    write_evidence(evidence, compared.result)
    return compared.table


def _stream_texts(latents: Path) -> Iterator[pd.DataFrame]:
    yield from (table.to_pandas() for table in stream_latents(latents, LATENTS, ["text", "words"]))
