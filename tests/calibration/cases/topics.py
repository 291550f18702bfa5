"""Words of the topic model in texts, and shares of texts."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.topics.comparison import describe
from macroscope.critics.topics.latents import TopicStrengths
from macroscope.statistics.latent import Resampling

from ..setting import Case, Drawn, Setting

WITHOUT, LOST, MEAN_WORDS = 0.1, 0.05, 80.0


def draw(rng: np.random.Generator, n: int) -> Drawn:
    """Texts of very different lengths, some without words, some whose posterior was not found."""
    lengths = 1 + rng.poisson(rng.gamma(2.0, (MEAN_WORDS - 1) / 2, n))
    known = rng.random(n) >= WITHOUT
    strengths = np.zeros((n, 2))
    converged = (rng.random(n) >= LOST) | ~known
    texts = TopicStrengths(pd.DataFrame({"id": range(n)}), lengths * known, strengths, converged)
    table = describe(texts, Resampling(200, 199, 0.95, int(rng.integers(1 << 30))))
    truth = {
        "without_words_share": WITHOUT,
        "not_converged_share": (1 - WITHOUT) * LOST,
        "known_words": (1 - WITHOUT) * MEAN_WORDS,
    }
    columns = ["statistic", "value", "ci_low", "ci_high", "p_value"]
    return list(table[columns].itertuples(index=False, name=None)), truth


CASE = Case("macroscope.critics.topics.comparison:STATISTICS", (Setting("100 texts", partial(draw, n=100)),))
