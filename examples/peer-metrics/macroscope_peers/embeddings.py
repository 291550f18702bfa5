"""The comparison of two collections by a statistic of their embeddings."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.clusters.latents import features
from macroscope.critics.split_half import ControlComparison, compare_with_control
from macroscope.options import Resampling
from macroscope.statistics.document_features import DocumentFeatures, join_features
from macroscope.statistics.joint_test import CollectionStatistic, permute
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.tidy import ROWS, Estimate, rows_table


class Rows:
    """Statistics of two collections."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows


def compare_collections(
    name: str, statistic: CollectionStatistic, control: Path, latents: Path, permutations: int, resampling: Resampling
) -> pd.DataFrame:
    """Return the value of a statistic with its p-value, of a system against the control, or of the control's halves."""

    def compare(reference: DocumentFeatures, candidate: DocumentFeatures) -> Rows:
        sizes = len(reference), len(candidate)
        permutation = build_permutation(reference.keys, candidate.keys)
        comparison = statistic(join_features(reference, candidate))
        rng = np.random.default_rng(resampling.seed)
        values = permute([comparison], permutation, permutations, rng)[:, 0]
        p_value = p_value_from_null(float(values[0]), values[1:], permutation.is_exact(permutations))
        return Rows(rows_table([Estimate(name, float(values[0]), p_value=p_value)], sizes, lambda _: "no embeddings"))

    compared: ControlComparison[DocumentFeatures, Rows] = compare_with_control(
        control,
        latents,
        read=lambda path: features(path, None),
        describe=lambda texts: pd.DataFrame(columns=ROWS),
        compare=compare,
        halves=lambda texts: (texts.subset(np.arange(0, len(texts), 2)), texts.subset(np.arange(1, len(texts), 2))),
    )
    return compared.table
