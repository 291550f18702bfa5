"""Numbers and bags of names per document: the rows whose sums statistics resample, and what critics observe."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

JOINT = "\x00"
"""Separator of the words of a pair, which no word contains."""


@dataclass(frozen=True)
class DocumentFeatures:
    """Features that a critic extracts from every single document of a sample.

    Attributes
    ----------
    keys
        `document_groups.KEYS` of the documents, as far as they have them.
    numbers
        Documents x numeric features; NaN for missing ones.
    bags
        Any number of feature lists: each holds, for every document, the names that it consists of. `JOINT` stands
        between the words of a pair.
    names
        Names of the numeric features; none for coordinates without a meaning, such as those of an embedding.
    """

    keys: pd.DataFrame
    numbers: NDArray[np.float64]
    bags: tuple[Sequence[Sequence[str]], ...] = ()
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, indices: NDArray[np.int64]) -> "DocumentFeatures":
        """Return the features of the documents of these indices."""
        bags = tuple([bag[i] for i in indices] for bag in self.bags)
        return DocumentFeatures(self.keys.iloc[indices], self.numbers[indices], bags, self.names)


def join_features(first: DocumentFeatures, second: DocumentFeatures) -> DocumentFeatures:
    """Return the features of the documents of two samples, the first sample's before the second's."""
    keys = pd.concat([first.keys, second.keys], ignore_index=True)
    bags = tuple([*of_first, *of_second] for of_first, of_second in zip(first.bags, second.bags, strict=True))
    return DocumentFeatures(keys, np.concatenate([first.numbers, second.numbers]), bags, first.names)


Array = NDArray[np.float64]
Sample = tuple[ArrayLike, ArrayLike]
"""(y, x): one number per document each, x >= 0."""
MANY = 50_000
"""Number of documents above which sums are resampled by bundles, and categories by `resampled_counts`."""
BUNDLES = 4096
"""Number of bundles of documents for statistics of sums over more than `MANY`; a bundle is resampled as a whole."""


def as_matrix(rows: ArrayLike) -> Array:
    """Return per-document columns as documents x columns; a vector is one column."""
    array = np.asarray(rows, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) == 0:
        raise ValueError(f"shape of rows {array.shape} is not documents x columns with at least one document")
    return array


def sum_into_bundles(rows: Array) -> Array:
    """Sum rows into `BUNDLES` random bundles; at most `MANY` rows are returned unchanged.

    A bundle of independent documents is as good a unit as a document, since sums over bundles are independent numbers,
    too. With thousands of them an error is known to two digits.
    """
    if len(rows) <= MANY:
        return rows
    bundle = np.random.default_rng(len(rows)).permutation(len(rows)) % BUNDLES
    return np.stack([np.bincount(bundle, column, BUNDLES) for column in rows.T], axis=1)
