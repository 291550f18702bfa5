"""What a critic sees of every single document: `statistics.classifier_two_sample_test` judges documents by it.

A critic with a prior sees what its scores hold: T(x) a state, the number of states, the posterior's entropy a state,
and what the document's latents consist of (`categories`). Another sees the numbers of its latents. One that sees more
declares so (`Critic.features`).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.critics.declaration import Critic
from macroscope.critics.subsampling import subsampled
from macroscope.errors import MacroscopeError
from macroscope.registry import Plugin
from macroscope.stages import load
from macroscope.statistics.category_counts import CATEGORIES
from macroscope.statistics.classifier_two_sample_test import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS

FeatureExtractor = Callable[[Path, Path | None], DocumentFeatures]
"""(latents, scores where the critic has any) of a system -> what the critic sees of its documents."""


def feature_extractor(critic: Plugin[Critic]) -> FeatureExtractor:
    """Function that tells what a critic sees of single documents."""
    if critic.data.features:
        found: FeatureExtractor = load(critic.data.features, critic.package)
        return found
    return of_scores if critic.data.scores else of_numbers


def read_features(critic: Plugin[Critic], latents: Path, scores: Path | None, seed: int) -> DocumentFeatures:
    """What a critic sees of a system's documents: of very many a random part; see `critics.subsampling`."""
    with subsampled(latents, scores, seed) as files:
        return feature_extractor(critic)(*files)


def of_scores(latents: Path, scores: Path | None) -> DocumentFeatures:
    """T(x) a state, states, entropy a state, and categories; of the documents that the critic judges."""
    assert scores is not None  # this is the view of critics with a prior
    known = {*pq.read_schema(scores).names}
    wanted = [*KEYS, "nll", "units", "entropy", CATEGORIES]
    table = pd.read_parquet(scores, columns=[name for name in wanted if name in known])
    table = table[table["nll"].notna() & (table["units"] > 0)].reset_index(drop=True)
    numbers = [table["nll"] / table["units"], table["units"]]
    if "entropy" in table:
        numbers.append(table["entropy"] / table["units"])
    bags = ([() if some is None else tuple(some) for some in table[CATEGORIES]],) if CATEGORIES in table else ()
    return DocumentFeatures(_keys(table), np.stack([column.to_numpy(float) for column in numbers], axis=1), bags)


def with_scores(features: DocumentFeatures, latents: Path, scores: Path | None) -> DocumentFeatures:
    """A view with what `of_scores` sees of the same documents beside it; NaN where it sees nothing."""
    scored = of_scores(latents, scores)
    at = pd.Index(scored.keys["id"]).get_indexer(features.keys["id"])
    beside = np.full((len(features), scored.numbers.shape[1]), np.nan)  # as many columns where nothing is scored
    beside[at >= 0] = scored.numbers[at[at >= 0]]
    return DocumentFeatures(features.keys, np.concatenate([features.numbers, beside], axis=1))


def of_numbers(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Every column of numbers in the latents."""
    table = pd.read_parquet(latents)
    numbers = table.drop(columns=list(KEYS), errors="ignore").select_dtypes(["number", "bool"])
    if not len(numbers.columns):
        raise MacroscopeError(
            f"{latents}: no column of numbers to tell documents apart by; declare the critic's 'features'"
        )
    return DocumentFeatures(_keys(table), numbers.to_numpy(float))


def _keys(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in KEYS if name in table]].reset_index(drop=True)
