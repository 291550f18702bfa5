"""Pairs of systems under one critic, from the files of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.declaration import Critic, statistics_of
from macroscope.critics.features import read_features
from macroscope.critics.two_sample_test import Files
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.options import CONTROL
from macroscope.registry import Plugin
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, two_sample_test
from macroscope.statistics.comparison import read_scores
from macroscope.statistics.declaration import declared
from macroscope.statistics.latent import Resampling
from macroscope.statistics.pairs import (
    AUC,
    DIFFERENCE,
    FROM_INTERVALS,
    PAIRED,
    ROWS,
    UNPAIRED,
    compare_documents,
    compare_intervals,
    recovered_difference,
)
from macroscope.statistics.permutation_groups import permutation_of
from macroscope.tables import read_csv, write_csv

FROM_EACH_OTHER = f"{C2ST_AUC}_from_each_other"
COLUMNS = ("corpus", "critic", "system", "other", *ROWS, "seed", "signature")
"""Columns of the pairs of a critic on a corpus."""


def parse_pairs(given: Sequence[str], systems: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of systems from words "system:other".

    Raises
    ------
    MacroscopeError
        Where a word is no pair of the systems.
    """
    found = []
    for word in given:
        system, colon, other = word.partition(":")
        if not (colon and {system, other} <= set(systems)):
            raise MacroscopeError(f"--pair {word}: give two of the systems as SYSTEM:OTHER")
        found.append((system, other))
    return found


def compare_pairs(
    critic: Plugin[Critic],
    files: Mapping[str, Files],
    pairs: Sequence[tuple[str, str]],
    statistics: Sequence[Path],
    output: Path,
    *,
    corpus: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Write every number of the critic of one system against another's, for some pairs; columns `COLUMNS`.

    Parameters
    ----------
    files
        System -> what the critic made of it.
    statistics
        Tidy statistics of these systems.
    """
    own = pd.concat([read_csv(path) for path in statistics], ignore_index=True)
    known = statistics_of(critic)
    about = {name: declared(known, name) for name in own["statistic"].unique()}
    own = own[own["statistic"].map(lambda name: bool(about[name].holds and not about[name].spans))]
    tables = []
    for system, other in pairs:
        found = [_c2st_auc(critic, files, system, other, resampling)]
        if critic.data.scores:
            scores = [read_scores(some) for name in (system, other) if (some := files[name].scores) is not None]
            found.append(compare_documents(scores[0], scores[1], resampling))
        done = set(pd.concat(found)["statistic"])
        ours, theirs = (own[(own["system"] == name) & ~own["statistic"].isin(done)] for name in (system, other))
        found.append(compare_intervals(ours, theirs, resampling.confidence, lambda name: about[name].sized))
        tables.append(pd.concat([some for some in found if len(some)]).assign(system=system, other=other))
    whole = "|".join((signature, resampling.signature))
    fixed = {"corpus": corpus, "critic": critic.name, "seed": resampling.seed, "signature": whole}
    table = pd.concat(tables, ignore_index=True).assign(**fixed)
    with atomic(output) as temporary:
        write_csv(table[list(COLUMNS)], temporary)


def _c2st_auc(
    critic: Plugin[Critic], files: Mapping[str, Files], system: str, other: str, resampling: Resampling
) -> pd.DataFrame:
    """How well single documents of two systems are told from each other, and each from real ones.

    A judge learns more from more documents: of the larger system as many are looked at as the other has.
    """
    real, ours, theirs = (
        read_features(critic, files[name].latents, files[name].scores, resampling.seed)
        for name in (CONTROL, system, other)
    )
    size, rng = min(len(ours), len(theirs)), np.random.default_rng(resampling.seed)
    ours, theirs = (side.some(np.sort(rng.permutation(len(side))[:size])) for side in (ours, theirs))
    level, seed = resampling.confidence, resampling.seed
    apart = [two_sample_test(real, side, level, seed)[0] for side in (ours, theirs)]
    difference = recovered_difference(apart[0][1:4], apart[1][1:4], level)
    _, *each_other = two_sample_test(theirs, ours, level, seed)[0]
    method = PAIRED if permutation_of(theirs.keys, ours.keys).paired else UNPAIRED
    reason = "" if np.isfinite(each_other[0]) else "the critic judges too few documents"
    rows = [
        (FROM_EACH_OTHER, AUC, *each_other, size, size, method, reason),
        (C2ST_AUC, DIFFERENCE, *difference, size, size, FROM_INTERVALS, reason),
    ]
    return pd.DataFrame(rows, columns=list(ROWS))
