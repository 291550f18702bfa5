"""Classifier two-sample tests of a critic, and their power against damages of known dose, from the files of a run."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import Critic
from macroscope.critics.features import order_by_id, read_features
from macroscope.document_keys import shared_id
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.options import CONTROL, SPLIT_HALF, Resampling, reference_of
from macroscope.registry import Plugin
from macroscope.stages import load
from macroscope.statistics.by_label import compare_by_label
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, two_sample_test
from macroscope.statistics.decisive_features import find_decisive_features
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.joint_test import CollectionStatistic, estimate_largest_difference
from macroscope.statistics.power import DESIGNS, Design, Power, PowerSettings, align, measure_power
from macroscope.statistics.tidy import NO_PAIRS, find_pairs, rows_table, sized_row, tidy_table, write_tidy
from macroscope.tables import write_csv

FEATURE = "feature"
"""Column of the tables with the feature that a statistic is about; "" if it is about all."""
MOST_PERMUTED = 2000
"""Largest number of documents per side of a permutation test, whose time may grow with the number of pairs."""


@dataclass(frozen=True)
class CriticFiles:
    """Output files of a critic for one system.

    Attributes
    ----------
    latents
        Path of the latents (Parquet).
    scores
        Path of the scores (Parquet); None if the critic has no prior.
    """

    latents: Path
    scores: Path | None


def group_files(systems: Sequence[str], latents: Sequence[Path], scores: Sequence[Path]) -> dict[str, CriticFiles]:
    """Return system -> output files of a critic, from lists in the same order; `scores` may be empty."""
    scores_or_none: Sequence[Path | None] = scores or [None] * len(systems)
    return {
        name: CriticFiles(path, scored) for name, path, scored in zip(systems, latents, scores_or_none, strict=True)
    }


def two_sample_tests(
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
) -> None:
    """Run the stage `two_sample_test`: every system's documents against the control's, as tidy statistics.

    The statistics are `c2st_auc`, the detectability: how often a classifier tells a system's document from a real one;
    `largest_difference`, whose p-value is that of the critic's permutation test (`statistics.joint_test`); and, if the
    detectability is above chance, what decides it (`statistics.decisive_features`), named in the column `FEATURE`. For
    the control, one half is tested against the other, as the system `SPLIT_HALF`. Texts at matched length are tested
    against the real ones at this length (`matched_length`).

    Parameters
    ----------
    all_latents, all_scores
        Output files of the critic for all systems, in the order of `systems`; those of the real texts that systems are
        compared with are included.
    """
    resampling = Resampling(0, 0, confidence, seed)
    plugin, files = get_critic(critic), group_files(systems, all_latents, all_scores)

    def read(system: str) -> DocumentFeatures:
        return read_features(plugin, files[system].latents, files[system].scores, seed)

    control = read(CONTROL)
    references = {reference_of(system) for system in files}
    tables = []
    for system in files:
        if system == CONTROL:
            numbers = np.arange(len(control))
            reference, candidate, name = control.subset(numbers[1::2]), control.subset(numbers[::2]), SPLIT_HALF
            pairing = NO_PAIRS
        elif system in references:
            continue
        else:
            reference = control if reference_of(system) == CONTROL else read(reference_of(system))
            candidate, name = read(system), system
            pairing = find_pairs(reference.keys, candidate.keys, system)
        about = {"corpus": corpus, "system": name, "critic": critic, "signature": signature}
        rows = _rows(reference, candidate, collection_statistics(plugin), resampling)
        tidy = tidy_table(rows, resampling=resampling, pairing=pairing, **about)
        tables.append(tidy.assign(**{FEATURE: rows[FEATURE]}))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _rows(
    reference: DocumentFeatures,
    candidate: DocumentFeatures,
    statistics: Sequence[CollectionStatistic],
    resampling: Resampling,
) -> pd.DataFrame:
    estimates = two_sample_test(reference, candidate, resampling.confidence, resampling.seed)
    few = [_subsample(features, resampling.seed) for features in (reference, candidate)]
    named = [("", each) for each in estimates]
    named.append(("", estimate_largest_difference(statistics, few[0], few[1], resampling.seed)))
    if estimates[0].ci_low > 0.5:
        named += find_decisive_features(reference, candidate, resampling.confidence, resampling.seed)
    table = rows_table(
        [each for _, each in named],
        (len(reference), len(candidate)),
        lambda _: f"fewer than {FEWEST_DOCUMENTS} judged documents in a collection, or all of them in one group",
    )
    return table.assign(**{FEATURE: [feature for feature, _ in named]})


def compare_labels(
    all_texts: Sequence[Path],
    all_latents: Sequence[Path],
    all_scores: Sequence[Path],
    output: Path,
    *,
    critic: str,
    systems: Sequence[str],
    corpus: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Run the stage `compare_labels`: test every system's documents against the control's within each label.

    The statistics are those of `statistics.by_label`; the label is in the column `FEATURE`.

    Parameters
    ----------
    all_texts, all_latents, all_scores
        Texts, and output files of the critic, of all systems in the order of `systems`; no scores without a prior.
    """
    plugin, files = get_critic(critic), group_files(systems, all_latents, all_scores)
    texts = dict(zip(systems, all_texts, strict=True))

    def read(system: str) -> tuple[DocumentFeatures, list[str | None]]:
        features = read_features(plugin, files[system].latents, files[system].scores, resampling.seed)
        table = pd.read_parquet(texts[system], columns=["id", "label"])
        labels = dict(zip(table["id"], table["label"], strict=True))
        return features, [labels.get(shared_id(name), labels.get(name)) for name in features.keys["id"]]

    reference, labels = read(CONTROL)
    if not any(pd.read_parquet(path, columns=["label"])["label"].notna().any() for path in all_texts):
        raise MacroscopeError(
            f"{corpus}: no text has a label to compare by; name its field in 'fields: {{label: NAME}}' of the corpus"
            " and of its systems, or leave out 'by'"
        )
    tables = []
    for system in systems:
        if system == CONTROL:
            continue
        candidate, of_candidate = read(system)
        rows = compare_by_label(
            (reference, candidate),
            (labels, of_candidate),
            resampling.confidence,
            resampling.permutations,
            resampling.seed,
        )
        table = pd.DataFrame([sized_row(row.estimate, row.sizes) | {"reason": row.reason} for row in rows])
        pairing = find_pairs(reference.keys, candidate.keys, system)
        about = {"corpus": corpus, "system": system, "critic": critic, "signature": signature}
        tidy = tidy_table(table, resampling=resampling, pairing=pairing, **about)
        tables.append(tidy.assign(**{FEATURE: [row.label for row in rows]}))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _subsample(features: DocumentFeatures, seed: int) -> DocumentFeatures:
    """Return at most `MOST_PERMUTED` documents, chosen by their ids, so that paired documents are chosen together."""
    if len(features) <= MOST_PERMUTED:
        return features
    order = order_by_id(features.keys["id"], seed)
    return features.subset(np.sort(order[:MOST_PERMUTED]))


def collection_statistics(critic: Plugin[Critic]) -> tuple[CollectionStatistic, ...]:
    return tuple(load(where, critic.package) for where in critic.data.collection_statistics)


# ---- power -----------------------------------------------------------------------------------------------------------
# Power of a critic's tests against damages of known dose, from the files of a run.

NO_DAMAGE = "none"
"""Name of the damage of real text against other real text."""
POWER_CELL = ("corpus", "critic", "system", "damage", "dose", "design", "n")
POWER_VALUES = ("power", "ci_low", "ci_high", "n_pool", "c2st_auc", "c2st_auc_low", "c2st_auc_high")
POWER_COLUMNS = (*POWER_CELL, *POWER_VALUES, "seed", "signature")
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
    rows += [(CONTROL, NO_DAMAGE, 0.0, each, (0.5, 0.5, 0.5)) for each in unpaired]
    for system, damage, dose in damages:
        paths = files[system]
        real, damaged = align(control, read_features(plugin, paths.latents, paths.scores, seed))
        auc = two_sample_test(real, damaged, confidence, seed)[0]
        interval = (auc.value, auc.ci_low, auc.ci_high)
        rows += [(system, damage, dose, each, interval) for each in powers(real, damaged, *DESIGNS)]
    table = pd.DataFrame(
        [(corpus, critic, *about, *astuple(power), *auc, seed, signature) for *about, power, auc in rows],
        columns=list(POWER_COLUMNS),
    )
    with atomic(output) as temporary:
        write_csv(table.assign(signature=f"{signature}|repeats:{repeats}|confidence:{confidence}"), temporary)
