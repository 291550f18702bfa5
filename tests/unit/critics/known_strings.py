"""Texts of independent words, whose log-probabilities are known, and comparisons of them."""

from pathlib import Path

import numpy as np

from macroscope.critics.strings.comparison import (
    compare,
)
from macroscope.critics.strings.latents import Texts
from macroscope.critics.strings.options import StringsOptions
from macroscope.document_keys import opening_of
from macroscope.options import Resampling

UNUSED = Path("unused")
"""Folder of checkpoints, which n-gram models do not have."""
RESAMPLING = Resampling(resamples=200, permutations=99)
OPTIONS = StringsOptions(order=2, folds=3, permutations=99)
WORDS = np.array([f"w{i}" for i in range(8)])
P = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])


def texts_of(ids, texts, words):
    return Texts(ids, [opening_of(text) for text in texts], texts, words)


def sample_texts(shares, count, seed, name="t", length=10):
    """Sample texts of independent words, whose log-probabilities are known."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, length, p=shares)) for _ in range(count)]
    return texts_of([f"{name}{i}" for i in range(count)], texts, np.full(count, length))


def rows_of(reference, candidate, options=OPTIONS):
    comparison = compare(reference, candidate, options, RESAMPLING, UNUSED)
    return comparison, comparison.rows.set_index("statistic")
