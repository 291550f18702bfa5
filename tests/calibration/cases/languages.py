"""Known words of texts, and shares of texts."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import TopicProportions
from macroscope.critics.topic_shares import describe
from macroscope.options import Resampling

from ..setting import Case, Run, Setting, list_estimates

WITHOUT, MEAN_WORDS = 0.1, 20.0


def simulate(rng: np.random.Generator, n: int) -> Run:
    """Describe short texts, some without words."""
    lengths = (1 + rng.poisson(rng.gamma(2.0, (MEAN_WORDS - 1) / 2, n))) * (rng.random(n) >= WITHOUT)
    points = np.full((n, 3), 1 / 3)
    texts = TopicProportions(pd.DataFrame({"id": range(n)}), lengths, points, points, points)
    table = describe(texts, Resampling(200, 199, 0.95, int(rng.integers(1 << 30))))
    truth = {"without_words_share": WITHOUT, "known_words": (1 - WITHOUT) * MEAN_WORDS}
    return list_estimates(table), truth


CASE = Case("macroscope.critics.topic_shares:STATISTICS", (Setting("100 texts", partial(simulate, n=100)),))
