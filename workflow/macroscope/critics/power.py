"""Power of a critic's tests against damages of known dose, and its accuracy over pairs, from the files of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.attributions import read_scores
from macroscope.critics.features import read_features
from macroscope.critics.two_sample_test import collection_statistics, group_files
from macroscope.files import atomic
from macroscope.options import CONTROL
from macroscope.statistics.classifier_two_sample_test import two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.pair_accuracy import PairAccuracy, measure_pair_accuracy
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
PAIRS = ("pair_accuracy", "pair_accuracy_low", "pair_accuracy_high", "n_pairs", "n_ties")
"""Columns of `statistics.pair_accuracy`; there are no pairs unless `Critic.scores_documents`."""
COLUMNS = (*CELL, *VALUES, *PAIRS, "seed", "signature")
"""Columns of the table. `n`: documents per side; `n_pool`: documents that subsamples are from; `c2st_auc`: the
detectability of all of them, which the scorecard shows."""


def measure_powers(
    all_latents: Sequence[Path],
    all_scores: Sequence[Path],
    output: Path,
    *,
    all_attributions: Sequence[Path] = (),
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

    The accuracy over pairs of a text and its damaged copy is of the score that the stage `attribute` writes. Its
    direction is the same for all damages: larger is less like real text.

    Parameters
    ----------
    all_latents, all_scores, all_attributions
        Output files of the critic for all systems, in the order of `systems`; no scores without a prior, and no
        attributions unless `Critic.scores_documents`.
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

    def powers(first: DocumentFeatures, second: DocumentFeatures, *designs: Design) -> list[Power]:
        return [each for design in designs for each in measure_power(first, second, design, settings, statistics)]

    attributions = dict(zip(systems, all_attributions, strict=True)) if all_attributions else {}
    rows: list[tuple[str, str, float, Power, tuple[float, float, float], PairAccuracy]] = []
    unpaired = powers(control, control, "unpaired")
    rows += [(CONTROL, NONE, 0.0, each, (0.5, 0.5, 0.5), PairAccuracy()) for each in unpaired]
    for system, damage, dose in damages:
        paths = files[system]
        real, damaged = align(control, read_features(plugin, paths.latents, paths.scores, seed))
        auc = two_sample_test(real, damaged, confidence, seed)[0]
        interval = (auc.value, auc.ci_low, auc.ci_high)
        accuracy = _pair_accuracy(attributions, system, confidence)
        rows += [(system, damage, dose, each, interval, accuracy) for each in powers(real, damaged, *DESIGNS)]
    table = pd.DataFrame(
        [
            (corpus, critic, *about, *astuple(power), *auc, *astuple(pairs), seed, signature)
            for *about, power, auc, pairs in rows
        ],
        columns=list(COLUMNS),
    )
    with atomic(output) as temporary:
        write_csv(table.assign(signature=f"{signature}|repeats:{repeats}|confidence:{confidence}"), temporary)


def _pair_accuracy(attributions: Mapping[str, Path], system: str, confidence: float) -> PairAccuracy:
    """Compare the scores of a system's texts with those of the real texts of the same ids."""
    if not attributions:
        return PairAccuracy()
    real, damaged = (
        pd.Series(dict(zip(*read_scores(attributions[name])[:2], strict=True))) for name in (CONTROL, system)
    )
    return measure_pair_accuracy(real.reindex(damaged.index), damaged, confidence)
