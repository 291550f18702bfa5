"""Features of single documents under a critic, for the classifier of `statistics.classifier_two_sample_test`.

A critic with a prior uses its scores: T(x) per state, the number of states, the posterior's entropy per state, further
numbers (`statistics.score_tables`), and the categories of the document's latents (column `categories`). Other
critics use the numeric columns of their latents. A critic with further features declares a function for them
(`Critic.features`).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.critics.declaration import Critic
from macroscope.critics.latents import is_cross_fitted, read_numbers
from macroscope.critics.subsampling import subsample
from macroscope.errors import MacroscopeError
from macroscope.registry import Plugin
from macroscope.stages import load
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS
from macroscope.statistics.score_tables import CATEGORIES, NUMBER

FeatureExtractor = Callable[[Path, Path | None], DocumentFeatures]
"""(latents, scores or None without a prior) of a system -> features of its documents."""


def feature_extractor(critic: Plugin[Critic]) -> FeatureExtractor:
    """Return the function that extracts a critic's features of single documents."""
    if critic.data.features:
        extractor: FeatureExtractor = load(critic.data.features, critic.package)
        return extractor
    return read_score_features if critic.data.scores else read_numeric_features


def read_features(critic: Plugin[Critic], latents: Path, scores: Path | None, seed: int) -> DocumentFeatures:
    """Read a critic's features of a system's documents; large collections are subsampled (`critics.subsampling`).

    Of a cross-fitted critic, these are its scores: its latents differ from fold to fold.
    """
    extract = read_score_features if is_cross_fitted(latents) else feature_extractor(critic)
    with subsample(latents, scores, seed) as files:
        return extract(*files)


def read_score_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read T(x) per state, states, entropy per state, further numbers, and categories of the documents with T(x)."""
    assert scores is not None  # only critics with a prior use these features
    columns = {*pq.read_schema(scores).names}
    further = [name for name in pq.read_schema(scores).names if name.startswith(NUMBER)]
    wanted = [*KEYS, "nll", "units", "entropy", *further, CATEGORIES]
    table = pd.read_parquet(scores, columns=[name for name in wanted if name in columns])
    table = table[table["nll"].notna() & (table["units"] > 0)].reset_index(drop=True)
    numbers = [table["nll"] / table["units"], table["units"]]
    if "entropy" in table:
        numbers.append(table["entropy"] / table["units"])
    numbers += [table[name] for name in further]
    bags = ([() if bag is None else tuple(bag) for bag in table[CATEGORIES]],) if CATEGORIES in table else ()
    return DocumentFeatures(_keys(table), np.stack([column.to_numpy(float) for column in numbers], axis=1), bags)


def add_score_features(features: DocumentFeatures, latents: Path, scores: Path | None) -> DocumentFeatures:
    """Append the numbers of `read_score_features` to features of the same documents; NaN for unscored documents."""
    scored = read_score_features(latents, scores)
    positions = pd.Index(scored.keys["id"]).get_indexer(features.keys["id"])
    appended = np.full((len(features), scored.numbers.shape[1]), np.nan)  # the width is the same if nothing is scored
    appended[positions >= 0] = scored.numbers[positions[positions >= 0]]
    return DocumentFeatures(features.keys, np.concatenate([features.numbers, appended], axis=1))


def read_numeric_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read every numeric column of the latents.

    Raises
    ------
    MacroscopeError
        If the latents have no numeric column.
    """
    keys, numbers = read_numbers(latents)
    if not len(numbers.columns):
        raise MacroscopeError(
            f"{latents}: no numeric column to use as features of documents; declare the critic's 'features'"
        )
    return DocumentFeatures(keys, numbers.to_numpy(float))


def _keys(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in KEYS if name in table]].reset_index(drop=True)
