"""Classifier two-sample test: numbers and words of documents, paired and unpaired, few and unequally many.

Comparisons at matched length and of cross-fitted critics are simulated as well; see `matched_length` and
`cross_fitting`.
"""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.document_keys import number_sample
from macroscope.statistics.classifier_two_sample_test import two_sample_test
from macroscope.statistics.document_features import DocumentFeatures

from .. import cross_fitting, matched_length, rare_titles
from ..setting import MEAN, Case, Run, Setting

WORDS = np.arange(100).astype(str)
SHARES = 1 / np.arange(1, 101)


def simulate(
    rng: np.random.Generator, n: int, m: int, numbers: int, shift: float = 0.0, is_paired: bool = False
) -> Run:
    """Compare documents with normal numbers and Zipfian words; those of the candidate may be shifted or paired."""
    first, second = rng.normal(size=(n, numbers)), rng.normal(size=(m, numbers))
    if is_paired:
        second = 0.8 * first[:m] + 0.6 * second
    second[:, 0] += shift
    shares = SHARES / SHARES.sum()
    bags = [[list(rng.choice(WORDS, 20, p=shares)) for _ in range(size)] for size in (n, m)]
    ids = [
        [f"{'a' if is_paired or sample == 0 else 'b'}{i}" for i in range(size)] for sample, size in enumerate((n, m))
    ]
    features = [
        DocumentFeatures(pd.DataFrame({"id": ids_of_sample}), values, (words,))
        for ids_of_sample, values, words in zip(ids, (first, second), bags, strict=True)
    ]
    estimates = two_sample_test(*features, confidence=0.95, seed=int(rng.integers(1 << 30)))
    return estimates, {"c2st_auc": MEAN}


def prompts(rng: np.random.Generator, n: int, m: int, texts: int) -> Run:
    """Compare n documents with several texts of each of m prompts, which share half of their variance."""
    first = rng.normal(size=(n, 3))
    second = 0.7 * np.repeat(rng.normal(size=(m, 3)), texts, axis=0) + 0.51**0.5 * rng.normal(size=(m * texts, 3))
    names = [number_sample(f"prompt {i}", number + 1) for i in range(m) for number in range(texts)]
    features = [
        DocumentFeatures(pd.DataFrame({"id": ids}), values)
        for ids, values in (([f"real {i}" for i in range(n)], first), (names, second))
    ]
    return two_sample_test(*features, confidence=0.95, seed=int(rng.integers(1 << 30))), {"c2st_auc": MEAN}


CASE = Case(
    "macroscope.statistics.classifier_two_sample_test:STATISTICS",
    (
        Setting("60 against 60", partial(simulate, n=60, m=60, numbers=3), ("c2st_auc",)),
        Setting("20 against 150", partial(simulate, n=20, m=150, numbers=3), ("c2st_auc",)),
        Setting("60 pairs", partial(simulate, n=60, m=60, numbers=3, is_paired=True), ("c2st_auc",)),
        Setting("100 against 5 texts of each of 12 prompts", partial(prompts, n=100, m=12, texts=5), ("c2st_auc",)),
        Setting("100 against 5 texts of each of 40 prompts", partial(prompts, n=100, m=40, texts=5), ("c2st_auc",)),
        Setting("10 against 10", partial(simulate, n=10, m=10, numbers=3), ("c2st_auc",)),
        Setting(
            "100 against 100, shifted",
            partial(simulate, n=100, m=100, numbers=3, shift=1.0),
            power={"c2st_auc": 0.95},
            runs=500,
        ),
        Setting("8 against 300", partial(simulate, n=8, m=300, numbers=3), ("c2st_auc",)),
        *matched_length.SETTINGS,
        *cross_fitting.DETECTED,
        *rare_titles.DETECTED,
    ),
    {"c2st_auc": "means over several orders of the folds vary less than their variances say, as do paired documents"},
)
