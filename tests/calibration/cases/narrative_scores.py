"""Shares of what the narrative critic looked at: of narratives, and of sentences that go together in narratives."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.statistics.latent import Resampling, compare

from ..setting import Case, Drawn, Setting

TOO_SHORT, CUT = 0.1, 0.05
FEWEST, MOST = 2, 30


def scores(n: int, rng: np.random.Generator, start: int) -> pd.DataFrame:
    """Narratives some of which have one sentence only; some have more long sentences than others."""
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


def draw(rng: np.random.Generator, n: int, m: int) -> Drawn:
    """Reference of n, candidate of m narratives."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare(scores(n, rng, 0), scores(m, rng, n), resampling)
    table = table[table["statistic"].str.endswith("_share")]
    columns = ["statistic", "value", "ci_low", "ci_high", "p_value"]
    truth = {"too_short_share": TOO_SHORT, "cut_sentence_share": CUT}
    return list(table[columns].itertuples(index=False, name=None)), truth


CASE = Case(
    "macroscope.critics.narrative.scoring:STATISTICS",
    (
        Setting("60 against 150", partial(draw, n=60, m=150), ("*",)),
        Setting("400 against 100", partial(draw, n=400, m=100), ("*",)),
    ),
    {"too_short_share": "few documents have it, and few values are possible"},
)
