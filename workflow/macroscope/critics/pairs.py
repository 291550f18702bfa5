"""Comparisons of pairs of systems under one critic, from the files of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import Critic, statistics_of
from macroscope.critics.features import read_features
from macroscope.critics.two_sample_test import CriticFiles, group_files
from macroscope.files import atomic
from macroscope.options import CONTROL, Resampling
from macroscope.registry import Plugin
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, two_sample_test
from macroscope.statistics.declaration import match_declaration
from macroscope.statistics.pairs import (
    AUC,
    DIFFERENCE,
    FROM_INTERVALS,
    PAIRED,
    ROWS,
    UNPAIRED,
    compare_documents,
    compare_intervals,
    mover_difference,
)
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.score_tables import read_scores
from macroscope.tables import read_csv, write_csv

BETWEEN_SYSTEMS: str = f"{C2ST_AUC}_between_systems"
COLUMNS = ("corpus", "critic", "system", "other", *ROWS, "seed", "signature")
"""Columns of the table of pairs of a critic on a corpus."""


def compare_pairs(
    all_latents: Sequence[Path],
    all_scores: Sequence[Path],
    all_statistics: Sequence[Path],
    output: Path,
    *,
    critic: str,
    systems: Sequence[str],
    pairs: Sequence[Sequence[str]],
    corpus: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Run the stage `compare_pairs`: the differences of each pair in every statistic of the critic; see `COLUMNS`.

    Parameters
    ----------
    all_latents, all_scores
        Output files of the critic for all systems, in the order of `systems`.
    all_statistics
        Paths of the tidy statistics of these systems.
    """
    plugin, files = get_critic(critic), group_files(systems, all_latents, all_scores)
    single = pd.concat([read_csv(path) for path in all_statistics], ignore_index=True)
    declarations = statistics_of(plugin)
    about = {name: match_declaration(declarations, name) for name in single["statistic"].unique()}
    single = single[single["statistic"].map(lambda name: bool(about[name].holds and not about[name].spans))]
    tables = []
    for system, other_system in pairs:
        parts = [_compare_detectability(plugin, files, system, other_system, resampling)]
        if plugin.data.scores:
            scores = [read_scores(path) for name in (system, other_system) if (path := files[name].scores) is not None]
            parts.append(compare_documents(scores[0], scores[1], resampling))
        done = set(pd.concat(parts)["statistic"])
        rows_of_system, rows_of_other = (
            single[(single["system"] == name) & ~single["statistic"].isin(done)] for name in (system, other_system)
        )
        parts.append(
            compare_intervals(rows_of_system, rows_of_other, resampling.confidence, lambda name: about[name].sized)
        )
        tables.append(pd.concat([part for part in parts if len(part)]).assign(system=system, other=other_system))
    full_signature = "|".join((signature, resampling.signature))
    fixed = {"corpus": corpus, "critic": critic, "seed": resampling.seed, "signature": full_signature}
    table = pd.concat(tables, ignore_index=True).assign(**fixed)
    with atomic(output) as temporary:
        write_csv(table[list(COLUMNS)], temporary)


def _compare_detectability(
    critic: Plugin[Critic], files: Mapping[str, CriticFiles], system: str, other_system: str, resampling: Resampling
) -> pd.DataFrame:
    """Compute the C2ST AUC of two systems against each other, and the difference of their AUCs against real documents.

    A classifier learns more from more documents, so the larger system is subsampled to the size of the smaller one.
    """
    real, of_system, of_other = (
        read_features(critic, files[name].latents, files[name].scores, resampling.seed)
        for name in (CONTROL, system, other_system)
    )
    size, rng = min(len(of_system), len(of_other)), np.random.default_rng(resampling.seed)
    of_system, of_other = (
        features.subset(np.sort(rng.permutation(len(features))[:size])) for features in (of_system, of_other)
    )
    level, seed = resampling.confidence, resampling.seed
    from_real = [two_sample_test(real, features, level, seed)[0] for features in (of_system, of_other)]
    intervals = [(auc.value, auc.ci_low, auc.ci_high) for auc in from_real]
    difference = mover_difference(intervals[0], intervals[1], level)
    each_other = two_sample_test(of_other, of_system, level, seed)[0]
    method = PAIRED if build_permutation(of_other.keys, of_system.keys).is_paired else UNPAIRED
    reason = "" if np.isfinite(each_other.value) else "the critic judges too few documents"
    values = (each_other.value, each_other.ci_low, each_other.ci_high, each_other.p_value)
    rows = [
        (BETWEEN_SYSTEMS, AUC, *values, size, size, method, reason),
        (C2ST_AUC, DIFFERENCE, *difference, size, size, FROM_INTERVALS, reason),
    ]
    return pd.DataFrame(rows, columns=list(ROWS))
