"""How well a critic tells single documents of each system from real ones, from the files of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from macroscope.critics.declaration import Critic
from macroscope.critics.features import read_features
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.registry import Plugin
from macroscope.statistics.classifier_two_sample_test import FEWEST, DocumentFeatures, two_sample_test
from macroscope.statistics.tidy import rows_table, tidy_table, with_partners, write_tidy

if TYPE_CHECKING:  # whatever else stands there computes nothing here
    from macroscope.statistics.latent import Resampling


@dataclass(frozen=True)
class Files:
    """What a critic made of a system.

    Attributes
    ----------
    latents
        Parquet.
    scores
        Parquet; None where the critic has no prior.
    """

    latents: Path
    scores: Path | None


def files_of(systems: Sequence[str], latents: Sequence[Path], scores: Sequence[Path]) -> dict[str, Files]:
    """What a critic made of every system, from lists in the same order; `scores` may be empty."""
    of_each: Sequence[Path | None] = scores or [None] * len(systems)
    return {name: Files(some, scored) for name, some, scored in zip(systems, latents, of_each, strict=True)}


def run_two_sample_tests(
    critic: Plugin[Critic],
    files: Mapping[str, Files],
    output: Path,
    *,
    corpus: str,
    signature: str,
    resampling: "Resampling",
) -> None:
    """Write how well single documents of every system are told from the control's, as tidy statistics.

    The control stands there by its halves, one against the other, as `SPLIT_HALF`.

    Parameters
    ----------
    files
        System -> what the critic made of it; the control among them.
    """
    control = read_features(critic, files[CONTROL].latents, files[CONTROL].scores, resampling.seed)
    tables = []
    for system, made in files.items():
        if system == CONTROL:
            numbers = np.arange(len(control))
            first, second, name = control.some(numbers[1::2]), control.some(numbers[::2]), SPLIT_HALF
            signed = signature
        else:
            first, second, name = control, read_features(critic, made.latents, made.scores, resampling.seed), system
            signed = with_partners(signature, first.keys, second.keys, system)
        about = {"corpus": corpus, "system": name, "critic": critic.name, "signature": signed}
        tables.append(tidy_table(_rows(first, second, resampling), resampling=resampling, **about))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _rows(first: DocumentFeatures, second: DocumentFeatures, resampling: "Resampling") -> pd.DataFrame:
    found = two_sample_test(first, second, resampling.confidence, resampling.seed)
    return rows_table(
        found,
        (len(first), len(second)),
        lambda _: f"the critic judges fewer than {FEWEST} documents on a side, or all of them belong together",
    )
