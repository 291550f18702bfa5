"""Shares of narratives, and of sentences that are correlated within narratives; the order, which short ones lack."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.latent import compare_numbers, compare_scores

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


def sample_order(n: int, rng: np.random.Generator, start: int, rise: float = 0.0) -> pd.DataFrame:
    """Sample the log odds of the order of narratives, which short ones lack; their mean is `rise`."""
    order = np.where(rng.random(n) < TOO_SHORT, np.nan, rng.normal(rise, 1, n))
    return pd.DataFrame({"id": np.arange(start, start + n), "opening": "", "order": order})


def simulate(rng: np.random.Generator, n: int, m: int, rise: float = 0.0) -> Run:
    """Compare a reference of n and a candidate of m narratives, whose order has a mean that is larger by `rise`."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    shares = compare_scores(scores(n, rng, 0), scores(m, rng, n), resampling)
    shares = shares[shares["statistic"].str.endswith("_share")]
    orders = compare_numbers(sample_order(n, rng, 0), sample_order(m, rng, n, rise), resampling)
    truth = {"too_short_share": TOO_SHORT, "cut_sentence_share": CUT, "order_mean": rise, "order_mean_difference": rise}
    if not rise:
        truth |= {f"order_{name}": 0.0 for name in ("ks", "cliffs_delta", "hedges_g")}
    return list_estimates(pd.concat([shares, orders], ignore_index=True)), truth


CASE = Case(
    "macroscope.critics.narrative.scoring:STATISTICS",
    (
        Setting("60 against 150", partial(simulate, n=60, m=150), ("*",)),
        # Few runs may miss that the coverage is a hundredth below 95 %.
        Setting("400 against 100", partial(simulate, n=400, m=100), ("*",), runs=4000),
        Setting(
            "a clearer order, 150 against 150",
            partial(simulate, n=150, m=150, rise=0.5),
            power={"order_mean_difference": 0.8},
        ),
    ),
    {
        "too_short_share": "few documents are counted, and few values are possible",
        "order_ks": "the distance of two samples is above 0 if that of their populations is 0",
    },
    {("400 against 100", "too_short_share"): "with ten short texts of a hundred an interval holds in about 93 %"},
)
