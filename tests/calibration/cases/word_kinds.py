"""Detectability by kind of words: Zipfian function and content words, of documents that may be on another subject."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.statistics.word_kinds import CONTENT_WORDS, FUNCTION_WORDS, compare_by_word_kinds

from ..setting import MEAN, Case, Run, Setting, list_estimates

TYPES, LENGTH = 100, 40
THE_FUNCTION_WORDS = frozenset(f"f{number}" for number in range(TYPES))


def simulate(rng: np.random.Generator, n: int, m: int, shift: int = 0) -> Run:
    """Compare documents; the content words of the candidate's may favour other words."""
    shares = 1 / np.arange(1, TYPES + 1)
    shares /= shares.sum()
    content = [np.roll(shares, shift * sample) for sample in (0, 1)]
    words = [
        [
            [f"{k}{i}" for k, p in (("f", shares), ("c", of)) for i in rng.choice(TYPES, LENGTH, p=p)]
            for _ in range(size)
        ]
        for of, size in zip(content, (n, m), strict=True)
    ]
    first, second = (pd.DataFrame({"id": [f"{s}{i}" for i in range(size)]}) for s, size in (("a", n), ("b", m)))
    table = compare_by_word_kinds(
        (first, second), (words[0], words[1]), THE_FUNCTION_WORDS, 0.95, int(rng.integers(1 << 30))
    )
    return list_estimates(table), {FUNCTION_WORDS: MEAN, CONTENT_WORDS: MEAN}


CASE = Case(
    "macroscope.statistics.word_kinds:STATISTICS",
    (
        Setting("60 against 60", partial(simulate, n=60, m=60), (FUNCTION_WORDS, CONTENT_WORDS), runs=500),
        Setting(
            "60 against 100, on another subject",
            partial(simulate, n=60, m=100, shift=5),
            (FUNCTION_WORDS,),
            {CONTENT_WORDS: 0.95},
            runs=300,
        ),
    ),
    {"*": "means over several orders of the folds vary less than their variances say"},
)
