"""The files of a comparison: texts in, statistics and evidence out."""

from pathlib import Path

import pandas as pd

from macroscope.critics.critic import SPLIT_HALF, Pair
from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.evidence import write_evidence
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import read_texts
from macroscope.statistics.comparison import write_statistics
from macroscope.statistics.latent import Resampling


def compare_files(
    pair: Pair, statistics: Path, evidence: Path, options: StringsOptions, resampling: Resampling
) -> None:
    """Compare the texts of a system with the control's; write tidy statistics and the evidence.

    Of the control, one half is compared with the other, as system `SPLIT_HALF`.
    """
    reference = read_texts(pair.reference)
    if pair.candidate == pair.reference:
        found = compare(reference.every_other(0), reference.every_other(1), options, resampling)
        own = describe(reference, resampling.confidence).assign(system=pair.system)
        table = pd.concat([own, found.rows.assign(system=SPLIT_HALF)], ignore_index=True)
    else:
        candidate = read_texts(pair.candidate)
        found = compare(reference, candidate, options, resampling)
        table = pd.concat([describe(candidate, resampling.confidence), found.rows], ignore_index=True)
    write_evidence(evidence, found)
    write_statistics(table, statistics, pair.corpus, pair.system, "strings", resampling, pair.signature)
