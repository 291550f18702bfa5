"""Decisive features: what remains of a detectability that one feature makes, or many."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.document_keys import number_sample
from macroscope.statistics.decisive_features import WITHOUT, find_decisive_features
from macroscope.statistics.document_features import DocumentFeatures

from ..setting import MEAN, Case, Run, Setting

SHARES = 1 / np.arange(1, 101)


def simulate(
    rng: np.random.Generator,
    n: int,
    m: int,
    shifts: list[float],
    texts: int = 1,
    word: str = "",
    truth: float | str = 0.5,
) -> Run:
    """Compare documents with normal numbers and Zipfian words.

    Parameters
    ----------
    n, m
        Documents of the reference, and prompts of the candidate.
    shifts
        Shift of each number in the candidate.
    texts
        Texts of each prompt, which share half of their variance.
    word
        Word that every document of the candidate has besides; "" for none.
    truth
        Truth of what remains without the decisive features.
    """
    first, of_texts = rng.normal(size=(n, len(shifts))), rng.normal(size=(m * texts, len(shifts)))
    if texts > 1:
        of_texts = 0.7 * np.repeat(rng.normal(size=(m, len(shifts))), texts, axis=0) + 0.51**0.5 * of_texts
    words, shares = np.arange(100).astype(str), SHARES / SHARES.sum()
    bags = [[[*rng.choice(words, 20, p=shares)] for _ in range(size)] for size in (n, m * texts)]
    bags[1] = [[*bag, word] if word else bag for bag in bags[1]]
    names = [number_sample(f"prompt {i}", number + 1) for i in range(m) for number in range(texts)]
    reference, candidate = (
        DocumentFeatures(pd.DataFrame({"id": ids}), values, (bag,), tuple(f"number {i}" for i in range(len(shifts))))
        for ids, values, bag in zip(
            ([f"real {i}" for i in range(n)], names), (first, of_texts + shifts), bags, strict=True
        )
    )
    estimates = find_decisive_features(reference, candidate, 0.95, int(rng.integers(1 << 30)))
    return [estimate for _, estimate in estimates], {WITHOUT: truth}


CASE = Case(
    "macroscope.statistics.decisive_features:STATISTICS",
    (
        Setting(
            "100 against 100, one number of 6 differs",
            partial(simulate, n=100, m=100, shifts=[2, 0, 0, 0, 0, 0]),
            runs=300,
        ),
        Setting(
            "40 against 150, one word differs", partial(simulate, n=40, m=150, shifts=[0, 0], word="</s>"), runs=300
        ),
        Setting(
            "100 against 5 texts of each of 30 prompts, one number of 6 differs",
            partial(simulate, n=100, m=30, texts=5, shifts=[2, 0, 0, 0, 0, 0]),
            runs=300,
        ),
        Setting(
            "100 against 100, all of 30 numbers differ a little",
            partial(simulate, n=100, m=100, shifts=[0.3] * 30, truth=MEAN),
            runs=300,
        ),
    ),
    {WITHOUT: "means over several orders of the folds vary less than their variances say"},
)
