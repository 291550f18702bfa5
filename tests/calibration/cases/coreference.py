"""Shares of documents, and of mentions that are correlated within documents; the use of names, which some lack."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.latent import compare_numbers, compare_scores

from ..setting import Case, Run, Setting, list_estimates

OF_DOCUMENTS = {"in_domain": 0.3, "resolver_failed": 0.02, "without_mentions": 0.15, "few_names": 0.3}
OF_MENTIONS = {"invalid_mention": 0.05, "unknown_surface": 0.1}
FEWEST, MOST = 5, 40
MEAN, SPREAD, DEGREES = -15.0, 3.0, 8.0
"""Use of names in short articles of Wikipedia: a mean of -15.5 and a standard deviation of 3.1."""


def scores(n: int, rng: np.random.Generator, start: int, rise: float = 0.0) -> pd.DataFrame:
    """Sample documents with shares of mentions that vary between documents, and a use of names with heavy tails."""
    table = pd.DataFrame({"id": np.arange(start, start + n), "nll": rng.random(n), "units": 1.0})
    for name, share in OF_DOCUMENTS.items():
        table = table.assign(**{f"count_{name}": rng.binomial(1, share, n).astype(float), f"of_{name}": 1.0})
    names = MEAN + rise + SPREAD * rng.standard_t(DEGREES, n)
    table = table.assign(opening="", number_name_mismatch=np.where(table["count_few_names"] == 1, np.nan, names))
    mentions = rng.integers(FEWEST, MOST, n)
    for name, share in OF_MENTIONS.items():
        counts = rng.binomial(mentions, rng.beta(3 * share, 3 * (1 - share), n))
        table = table.assign(**{f"count_{name}": counts.astype(float), f"of_{name}": mentions.astype(float)})
    return table


def simulate(rng: np.random.Generator, n: int, m: int, rise: float = 0.0) -> Run:
    """Compare a reference of n and a candidate of m documents.

    Parameters
    ----------
    rise
        Rise of the log odds that names have changed places.
    """
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    real, texts = scores(n, rng, 0), scores(m, rng, n, rise)
    shares = compare_scores(real, texts, resampling)
    shares = shares[shares["statistic"].str.endswith("_share")]
    columns = ["id", "opening", "number_name_mismatch"]
    names = [table[columns].rename(columns={"number_name_mismatch": "name_mismatch"}) for table in (real, texts)]
    table = pd.concat([shares, compare_numbers(*names, resampling)], ignore_index=True)
    truth = {f"{name}_share": share for name, share in (OF_DOCUMENTS | OF_MENTIONS).items()}
    truth |= {"name_mismatch_mean": MEAN + rise, "name_mismatch_mean_difference": rise}
    if not rise:
        truth |= {f"name_mismatch_{name}": 0.0 for name in ("ks", "cliffs_delta", "hedges_g")}
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.coreference.scoring:STATISTICS",
    (
        Setting("60 against 150", partial(simulate, n=60, m=150), ("*",)),
        Setting("400 against 100", partial(simulate, n=400, m=100), ("*",)),
        Setting(
            "names in other places, 150 against 150",
            partial(simulate, n=150, m=150, rise=1.8),
            power={"name_mismatch_mean_difference": 0.8},
        ),
    ),
    dict.fromkeys((f"{name}_share" for name in OF_DOCUMENTS), "few documents are counted, and few values are possible")
    | {"name_mismatch_ks": "the distance of two samples is above 0 if that of their populations is 0"},
)
