"""Features of single documents, as a critic observes them: numbers and bags of names."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True)
class DocumentFeatures:
    """Features that a critic extracts from every single document of a sample.

    Attributes
    ----------
    keys
        `pairing_keys.KEYS` of the documents, as far as they have them.
    numbers
        Documents x numeric features; NaN for missing ones.
    bags
        Any number of feature lists: each holds, for every document, the names that it consists of.
    """

    keys: pd.DataFrame
    numbers: NDArray[np.float64]
    bags: tuple[Sequence[Sequence[str]], ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, indices: NDArray[np.int64]) -> "DocumentFeatures":
        """Return the features of the documents of these indices."""
        bags = tuple([bag[i] for i in indices] for bag in self.bags)
        return DocumentFeatures(self.keys.iloc[indices], self.numbers[indices], bags)


def join_features(first: DocumentFeatures, second: DocumentFeatures) -> DocumentFeatures:
    """Return the features of the documents of two samples, the first sample's before the second's."""
    keys = pd.concat([first.keys, second.keys], ignore_index=True)
    bags = tuple([*of_first, *of_second] for of_first, of_second in zip(first.bags, second.bags, strict=True))
    return DocumentFeatures(keys, np.concatenate([first.numbers, second.numbers]), bags)
