"""Shares of the narrative critic: of narratives, and of sentences that are correlated within narratives."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.resampling import Resampling
from macroscope.statistics.latent import compare_scores

from ..setting import Case, Run, Setting, list_estimates

TOO_SHORT, CUT = 0.1, 0.05
FEWEST, MOST = 2, 30


def scores(n: int, rng: np.random.Generator, start: int) -> pd.DataFrame:
    """Sample narratives, some of one sentence only, with shares of long sentences that vary between narratives."""
    sentences = rng.integers(FEWEST, MOST, n)
    return pd.DataFrame(
        {
            "id": np.arange(start, start + n),
            "nll": rng.random(n),
            "units": 1.0,
            "count_too_short": rng.binomial(1, TOO_SHORT, n).astype(float),
            "of_too_short": 1.0,
            "count_cut_sentence": rng.binomial(sentences, rng.beta(3 * CUT, 3 * (1 - CUT), n)).astype(float),
            "of_cut_sentence": sentences.astype(float),
        }
    )


def simulate(rng: np.random.Generator, n: int, m: int) -> Run:
    """Compare a reference of n and a candidate of m narratives."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare_scores(scores(n, rng, 0), scores(m, rng, n), resampling)
    table = table[table["statistic"].str.endswith("_share")]
    truth = {"too_short_share": TOO_SHORT, "cut_sentence_share": CUT}
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.narrative.scoring:STATISTICS",
    (
        Setting("60 against 150", partial(simulate, n=60, m=150), ("*",)),
        # Few runs may miss that the coverage is a hundredth below 95 %.
        Setting("400 against 100", partial(simulate, n=400, m=100), ("*",), runs=4000),
    ),
    {"too_short_share": "few documents are counted, and few values are possible"},
    {("400 against 100", "too_short_share"): "with ten short texts of a hundred an interval holds in about 93 %"},
)
