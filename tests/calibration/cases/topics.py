"""Words of the topic model in texts, shares of texts, and patchiness of topics."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.topics.comparison import compare_patchiness, describe
from macroscope.critics.topics.latents import TopicStrengths
from macroscope.resampling import Resampling

from ..setting import Case, Run, Setting, list_estimates

WITHOUT, LOST, MEAN_WORDS = 0.1, 0.05, 80.0
SHORT = 0.1
"""Share of texts with words that have no pair of words in a sentence."""
MEAN_PATCHINESS = 0.1


def sample_strengths(rng: np.random.Generator, n: int, start: int = 0, rise: float = 0.0) -> TopicStrengths:
    """Sample texts of very different lengths, some without words, some whose posterior did not converge.

    Parameters
    ----------
    rise
        Rise of the patchiness, which is skewed, as that of real text is.
    """
    lengths = 1 + rng.poisson(rng.gamma(2.0, (MEAN_WORDS - 1) / 2, n))
    has_words = rng.random(n) >= WITHOUT
    converged = (rng.random(n) >= LOST) | ~has_words
    patchiness = rng.gamma(1.0, MEAN_PATCHINESS, n) + rise
    patchiness[~has_words | (rng.random(n) < SHORT)] = np.nan
    keys = pd.DataFrame({"id": np.arange(start, start + n), "opening": ""})
    return TopicStrengths(keys, lengths * has_words, np.zeros((n, 2)), converged, patchiness)


def simulate(rng: np.random.Generator, n: int, m: int, rise: float = 0.0) -> Run:
    """Describe m texts, and compare their patchiness with that of n real ones."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    real, texts = sample_strengths(rng, n), sample_strengths(rng, m, n, rise)
    table = pd.concat([describe(texts, resampling), compare_patchiness(real, texts, resampling)], ignore_index=True)
    truth = {
        "without_words_share": WITHOUT,
        "not_converged_share": (1 - WITHOUT) * LOST,
        "known_words": (1 - WITHOUT) * MEAN_WORDS,
        "patchiness_mean": MEAN_PATCHINESS + rise,
        "patchiness_mean_difference": rise,
    }
    if not rise:
        truth |= {f"patchiness_{name}": 0.0 for name in ("ks", "cliffs_delta", "hedges_g")}
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.topics.comparison:STATISTICS",
    (
        Setting("60 against 150 texts", partial(simulate, n=60, m=150), ("*",), runs=500),
        Setting("200 against 60 texts", partial(simulate, n=200, m=60), ("*",), runs=500),
        Setting(
            "more patchiness, 100 against 100 texts",
            partial(simulate, n=100, m=100, rise=0.06),
            power={"patchiness_mean_difference": 0.8},
            runs=500,
        ),
    ),
    {"patchiness_ks": "the distance of two samples is above 0 if that of their populations is 0"},
)
