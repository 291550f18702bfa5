"""Power of a critic's tests against damages of known dose, from the files of a run."""

from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.features import read_features
from macroscope.critics.two_sample_test import collection_statistics, group_files
from macroscope.files import atomic
from macroscope.options import CONTROL
from macroscope.statistics.classifier_two_sample_test import two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.power import (
    DESIGNS,
    Design,
    Power,
    PowerSettings,
    align,
    measure_power,
)
from macroscope.tables import write_csv

NONE = "none"
"""Name of the damage of real text against other real text."""
CELL = ("corpus", "critic", "system", "damage", "dose", "design", "n")
VALUES = ("power", "ci_low", "ci_high", "n_pool", "c2st_auc", "c2st_auc_low", "c2st_auc_high")
COLUMNS = (*CELL, *VALUES, "seed", "signature")
"""Columns of the table. `n`: documents per side; `n_pool`: documents that subsamples are from; `c2st_auc`: the
detectability of all of them, which the scorecard shows."""


def measure_powers(
    all_latents: Sequence[Path],
    all_scores: Sequence[Path],
    output: Path,
    *,
    critic: str,
    systems: Sequence[str],
    corpus: str,
    signature: str,
    confidence: float,
    seed: int,
    damages: Sequence[tuple[str, str, float]],
    sizes: Sequence[int],
    repeats: int,
) -> None:
    """Run the stage `measure_power`: the power against every damage, and against none, at every size and design.

    Parameters
    ----------
    all_latents, all_scores
        Output files of the critic for all systems, in the order of `systems`; no scores without a prior.
    damages
        (system, damage, dose) of each damaged system.
    sizes
        Numbers of documents per side.
    repeats
        Number of subsamples.
    """
    plugin = get_critic(critic)
    files = group_files(systems, all_latents, all_scores)
    control = read_features(plugin, files[CONTROL].latents, files[CONTROL].scores, seed)
    settings = PowerSettings(tuple(sizes), repeats, confidence=confidence, seed=seed)
    statistics = collection_statistics(plugin)

    def powers(reference: DocumentFeatures, candidate: DocumentFeatures, *designs: Design) -> list[Power]:
        return [
            each for design in designs for each in measure_power(reference, candidate, design, settings, statistics)
        ]

    rows: list[tuple[str, str, float, Power, tuple[float, float, float]]] = []
    unpaired = powers(control, control, "unpaired")
    rows += [(CONTROL, NONE, 0.0, each, (0.5, 0.5, 0.5)) for each in unpaired]
    for system, damage, dose in damages:
        paths = files[system]
        real, damaged = align(control, read_features(plugin, paths.latents, paths.scores, seed))
        auc = two_sample_test(real, damaged, confidence, seed)[0]
        interval = (auc.value, auc.ci_low, auc.ci_high)
        rows += [(system, damage, dose, each, interval) for each in powers(real, damaged, *DESIGNS)]
    table = pd.DataFrame(
        [(corpus, critic, *about, *astuple(power), *auc, seed, signature) for *about, power, auc in rows],
        columns=list(COLUMNS),
    )
    with atomic(output) as temporary:
        write_csv(table.assign(signature=f"{signature}|repeats:{repeats}|confidence:{confidence}"), temporary)
