"""Classifier two-sample tests of a critic: each system's documents against real ones, from the files of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import Critic
from macroscope.critics.features import read_features
from macroscope.critics.subsampling import order_by_id
from macroscope.options import CONTROL, SPLIT_HALF, Resampling, reference_of
from macroscope.registry import Plugin
from macroscope.stages import load
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.joint_test import CollectionStatistic, estimate_largest_difference
from macroscope.statistics.tidy import NO_PAIRS, find_pairs, rows_table, tidy_table, write_tidy

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
    """Run the stage `two_sample_test`: `run_two_sample_tests` on the files of all systems, in the same order."""
    from macroscope.options import Resampling

    resampling = Resampling(0, 0, confidence, seed)
    files = group_files(systems, all_latents, all_scores)
    about = {"corpus": corpus, "signature": signature}
    run_two_sample_tests(get_critic(critic), files, output, resampling=resampling, **about)


def run_two_sample_tests(
    critic: Plugin[Critic],
    files: Mapping[str, CriticFiles],
    output: Path,
    *,
    corpus: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Test every system's documents against the control's, and write the results as tidy statistics.

    The statistics are `c2st_auc`, the detectability: how often a classifier tells a system's document from a real one;
    and `largest_difference`, whose p-value is that of the critic's permutation test (`statistics.joint_test`). For the
    control, one half is tested against the other, as the system `SPLIT_HALF`. Texts at matched length are
    tested against the real ones at this length (`matched_length`).

    Parameters
    ----------
    files
        System -> output files of the critic; the real texts that systems are compared with are included.
    """

    def read(system: str) -> DocumentFeatures:
        return read_features(critic, files[system].latents, files[system].scores, resampling.seed)

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
        about = {"corpus": corpus, "system": name, "critic": critic.name, "signature": signature}
        rows = _rows(reference, candidate, collection_statistics(critic), resampling)
        tables.append(tidy_table(rows, resampling=resampling, pairing=pairing, **about))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _rows(
    reference: DocumentFeatures,
    candidate: DocumentFeatures,
    statistics: Sequence[CollectionStatistic],
    resampling: Resampling,
) -> pd.DataFrame:
    estimates = two_sample_test(reference, candidate, resampling.confidence, resampling.seed)
    few = [_subsample(features, resampling.seed) for features in (reference, candidate)]
    estimates.append(estimate_largest_difference(statistics, few[0], few[1], resampling.seed))
    return rows_table(
        estimates,
        (len(reference), len(candidate)),
        lambda _: f"fewer than {FEWEST_DOCUMENTS} judged documents in a collection, or all of them in one group",
    )


def _subsample(features: DocumentFeatures, seed: int) -> DocumentFeatures:
    """Return at most `MOST_PERMUTED` documents, chosen by their ids, so that paired documents are chosen together."""
    if len(features) <= MOST_PERMUTED:
        return features
    order = order_by_id(features.keys["id"], seed)
    return features.subset(np.sort(order[:MOST_PERMUTED]))


def collection_statistics(critic: Plugin[Critic]) -> tuple[CollectionStatistic, ...]:
    """Return the statistics of a critic's permutation test."""
    return tuple(load(where, critic.package) for where in critic.data.collection_statistics)
