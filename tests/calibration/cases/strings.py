"""The strings critic, from texts on: n-grams of small languages."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.latents import Texts
from macroscope.critics.strings.options import StringsOptions
from macroscope.options import Resampling

from ..setting import MEAN, Case, Run, Setting, list_estimates

OPTIONS = StringsOptions(order=2, folds=3, permutations=199)
WORDS = np.array([f"w{k}" for k in range(12)])


def texts(n: int, shares: np.ndarray, start: int, rng: np.random.Generator) -> Texts:
    """Sample texts of a few words each."""
    lengths = rng.integers(4, 10, n)
    lines = [" ".join(rng.choice(WORDS, length, p=shares)) for length in lengths]
    return Texts([str(k) for k in range(start, start + n)], [""] * n, lines, lengths.astype(np.int64))


def languages(rng: np.random.Generator, n: int, m: int, strength: float) -> Run:
    """Compute every row of a comparison of two languages that differ by `strength`."""
    fixed = np.random.default_rng([7, int(10 * strength)])
    p = fixed.dirichlet(np.full(len(WORDS), 2.0))
    q = p * np.exp(fixed.normal(0, strength, len(WORDS)))
    samples = texts(n, p, 0, rng), texts(m, q / q.sum(), n, rng)
    table = compare(*samples, OPTIONS, Resampling(100, 199, 0.95, int(rng.integers(1 << 30))), Path("unused")).rows
    estimates = list_estimates(table)
    shares = describe([pd.DataFrame({"text": samples[1].texts, "words": samples[1].words})], 0.95)
    truth = {estimate.statistic: MEAN for estimate in estimates} | {"empty_share": 0.0}
    return [*estimates, *list_estimates(shares)], truth


CASE = Case(
    "macroscope.critics.strings.comparison:STATISTICS",
    (
        Setting("equal languages, 40 against 40", partial(languages, n=40, m=40, strength=0.0), ("latent_ppl_ratio",)),
        Setting("equal languages, 30 against 80", partial(languages, n=30, m=80, strength=0.0), ("latent_ppl_ratio",)),
        Setting("other languages, 60 against 60", partial(languages, n=60, m=60, strength=0.6), runs=500),
    ),
    limits={
        ("*", name): "near its ends the area is skewed, and an interval holds in 85 to 98 %"
        for name in ("auc_divergence", "mauve")
    },
)
