"""Features of single documents under a critic, for the classifier of `statistics.classifier_two_sample_test`.

A critic with a prior uses its scores: T(x) per state, the number of states, the posterior's entropy per state, further
numbers (`statistics.score_tables`), and the categories of the document's latents (column `categories`). Other
critics use the numeric columns of their latents. A critic with further features declares a function for them
(`Critic.features`).
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from macroscope.critics.declaration import Critic
from macroscope.critics.latents import is_cross_fitted, read_numbers
from macroscope.errors import MacroscopeError
from macroscope.registry import Plugin
from macroscope.stages import load
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS, Integers
from macroscope.statistics.score_tables import CATEGORIES, NUMBER

# ---- subsampling -----------------------------------------------------------------------------------------------------
# Features of all documents must fit in memory at once. Beyond some thousands of documents, more of them hardly make a
# detectability more precise: with 20,000 documents per collection, the standard error of an AUC is below 0.004.

MAX_DOCUMENTS = 20_000
"""Largest number of documents of a system that are used."""

log = logging.getLogger(__name__)


@contextmanager
def subsample(
    latents: Path, scores: Path | None, seed: int, most: int = MAX_DOCUMENTS
) -> Iterator[tuple[Path, Path | None]]:
    """Yield paths of latents and scores of at most `most` documents; of smaller collections, the given paths.

    The choice of a document depends on its id and the seed alone, so that documents paired by id are chosen together.
    """
    if pq.ParquetFile(latents).metadata.num_rows <= most:
        yield latents, scores
        return
    ids = pd.unique(pq.read_table(latents, columns=["id"])["id"].to_pandas())
    if len(ids) <= most:  # several rows per document
        yield latents, scores
        return
    chosen = pa.array(ids[order_by_id(ids, seed)[:most]], pa.string())
    log.info("%s: %s of %s documents are used, sampled at random", latents.stem, f"{most:,}", f"{len(ids):,}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        parts = [None if path is None else folder / f"{name}.parquet" for name, path in enumerate((latents, scores))]
        for path, part in zip((latents, scores), parts, strict=True):
            if path is not None and part is not None:
                _copy(path, part, chosen)
        assert parts[0] is not None
        yield parts[0], parts[1]


def order_by_id(ids: ArrayLike, seed: int) -> Integers:
    """Return a random order of ids that depends on each id and the seed alone."""
    numbers = pd.util.hash_array(np.asarray(ids, dtype=object), hash_key=f"{seed:016d}"[-16:])
    return np.argsort(numbers, kind="stable")


def _copy(path: Path, part: Path, chosen: pa.Array) -> None:
    with pq.ParquetFile(path) as file, pq.ParquetWriter(part, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch.filter(pc.is_in(batch["id"].cast(pa.string()), value_set=chosen)))


# ---- features --------------------------------------------------------------------------------------------------------

FeatureExtractor = Callable[[Path, Path | None], DocumentFeatures]
"""(latents, scores or None without a prior) of a system -> features of its documents."""


def feature_extractor(critic: Plugin[Critic]) -> FeatureExtractor:
    """Return the function that extracts a critic's features of single documents."""
    if critic.data.features:
        extractor: FeatureExtractor = load(critic.data.features, critic.package)
        return extractor
    return read_score_features if critic.data.scores else read_numeric_features


def read_features(critic: Plugin[Critic], latents: Path, scores: Path | None, seed: int) -> DocumentFeatures:
    """Read a critic's features of a system's documents; large collections are subsampled (`subsample`).

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
    numbers = {"nll_per_unit": table["nll"] / table["units"], "units": table["units"]}
    if "entropy" in table:
        numbers["posterior_entropy"] = table["entropy"] / table["units"]
    numbers |= {name.removeprefix(NUMBER): table[name] for name in further}
    bags = ([() if bag is None else tuple(bag) for bag in table[CATEGORIES]],) if CATEGORIES in table else ()
    stacked = np.stack([column.to_numpy(float) for column in numbers.values()], axis=1)
    return DocumentFeatures(_keys(table), stacked, bags, tuple(numbers))


def add_score_features(features: DocumentFeatures, latents: Path, scores: Path | None) -> DocumentFeatures:
    """Append the numbers of `read_score_features` to features of the same documents; NaN for unscored documents."""
    scored = read_score_features(latents, scores)
    positions = pd.Index(scored.keys["id"]).get_indexer(features.keys["id"])
    appended = np.full((len(features), scored.numbers.shape[1]), np.nan)  # the width is the same if nothing is scored
    appended[positions >= 0] = scored.numbers[positions[positions >= 0]]
    joined = np.concatenate([features.numbers, appended], axis=1)
    return DocumentFeatures(features.keys, joined, names=features.names + scored.names)


def read_numeric_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read every numeric column of the latents."""
    keys, numbers = read_numbers(latents)
    if not len(numbers.columns):
        raise MacroscopeError(
            f"{latents}: no numeric column to use as features of documents; declare the critic's 'features'"
        )
    return DocumentFeatures(keys, numbers.to_numpy(float), names=tuple(numbers.columns))


def _keys(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in KEYS if name in table]].reset_index(drop=True)
