"""Known words of texts, and shares of texts."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.languages.comparison import describe
from macroscope.critics.languages.latents import TopicProportions
from macroscope.statistics.latent import Resampling

from ..setting import Case, Drawn, Setting

WITHOUT, MEAN_WORDS = 0.1, 20.0


def draw(rng: np.random.Generator, n: int) -> Drawn:
    """Short texts, some without words."""
    lengths = (1 + rng.poisson(rng.gamma(2.0, (MEAN_WORDS - 1) / 2, n))) * (rng.random(n) >= WITHOUT)
    points = np.full((n, 3), 1 / 3)
    texts = TopicProportions(pd.DataFrame({"id": range(n)}), lengths, points, points, points)
    table = describe(texts, Resampling(200, 199, 0.95, int(rng.integers(1 << 30))))
    truth = {"without_words_share": WITHOUT, "known_words": (1 - WITHOUT) * MEAN_WORDS}
    columns = ["statistic", "value", "ci_low", "ci_high", "p_value"]
    return list(table[columns].itertuples(index=False, name=None)), truth


CASE = Case("macroscope.critics.languages.comparison:STATISTICS", (Setting("100 texts", partial(draw, n=100)),))
