"""N-grams that documents share, of texts that real text repeats as well; see `joint_test`."""

from functools import partial

import numpy as np

from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.shared_ngrams import NAME, estimate_shared_ngrams

from ..setting import Case, Run, Setting
from .joint_test import LENGTH, PERMUTATIONS, STOCK, sample_text, sample_texts


def repeat(rng: np.random.Generator, n: int, m: int, copies: float = 0.0, is_paired: bool = False) -> Run:
    """Compare texts; some of the candidate's may be copies of others."""
    stock = [sample_text(rng, LENGTH) for _ in range(STOCK)]
    first, second = sample_texts(rng, stock, n), sample_texts(rng, stock, m)
    number = int(copies * m)
    second[:number] = second[number : 2 * number]
    if is_paired:  # both continue the same beginnings
        beginnings = sample_texts(rng, stock, n)
        first, second = ([a + b for a, b in zip(beginnings, texts, strict=True)] for texts in (first, second))
    groups = np.concatenate([np.arange(1, n + 1)] * 2) if is_paired else None
    permutation = Permutation((n, m), groups)
    return [estimate_shared_ngrams((first, second), permutation, PERMUTATIONS, int(rng.integers(1 << 30)))], {}


CASE = Case(
    "macroscope.statistics.shared_ngrams:STATISTICS",
    (
        Setting("20 against 20", partial(repeat, n=20, m=20), (NAME,)),
        Setting("20 against 100", partial(repeat, n=20, m=100), (NAME,)),
        Setting("300 against 80", partial(repeat, n=300, m=80), (NAME,)),
        Setting("40 pairs", partial(repeat, n=40, m=40, is_paired=True), (NAME,)),
        Setting(
            "100 against 60, of which a quarter are copies",
            partial(repeat, n=100, m=60, copies=0.25),
            power={NAME: 0.95},
            runs=300,
        ),
    ),
)
