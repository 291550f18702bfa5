"""Words of the topic model in texts, and shares of texts."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.topics.comparison import describe_strengths
from macroscope.critics.topics.latents import TopicStrengths
from macroscope.options import Resampling

from ..setting import Case, Run, Setting, list_estimates

WITHOUT, LOST, MEAN_WORDS = 0.1, 0.05, 80.0


def sample_strengths(rng: np.random.Generator, n: int) -> TopicStrengths:
    """Sample texts of very different lengths, some without words, some whose posterior did not converge."""
    lengths = 1 + rng.poisson(rng.gamma(2.0, (MEAN_WORDS - 1) / 2, n))
    has_words = rng.random(n) >= WITHOUT
    converged = (rng.random(n) >= LOST) | ~has_words
    keys = pd.DataFrame({"id": np.arange(n), "opening": ""})
    return TopicStrengths(keys, lengths * has_words, np.zeros((n, 2)), converged)


def simulate(rng: np.random.Generator, n: int) -> Run:
    """Describe n texts."""
    table = describe_strengths(sample_strengths(rng, n), Resampling(200, 199, 0.95, int(rng.integers(1 << 30))))
    truth = {
        "without_words_share": WITHOUT,
        "not_converged_share": (1 - WITHOUT) * LOST,
        "known_words": (1 - WITHOUT) * MEAN_WORDS,
    }
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.topics.latents:STATISTICS",
    (
        Setting("150 texts", partial(simulate, n=150), ("*",), runs=500),
        Setting("60 texts", partial(simulate, n=60), ("*",), runs=500),
    ),
)
