"""Shares of the coreference critic: of documents, and of mentions that are correlated within documents."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.resampling import Resampling
from macroscope.statistics.latent import compare_scores

from ..setting import Case, Run, Setting, list_estimates

OF_DOCUMENTS = {"in_domain": 0.3, "resolver_failed": 0.02, "without_mentions": 0.15}
OF_MENTIONS = {"invalid_mention": 0.05, "unknown_surface": 0.1}
FEWEST, MOST = 5, 40


def scores(n: int, rng: np.random.Generator, start: int) -> pd.DataFrame:
    """Sample documents with shares of mentions that vary between documents."""
    table = pd.DataFrame({"id": np.arange(start, start + n), "nll": rng.random(n), "units": 1.0})
    for name, share in OF_DOCUMENTS.items():
        table = table.assign(**{f"count_{name}": rng.binomial(1, share, n).astype(float), f"of_{name}": 1.0})
    mentions = rng.integers(FEWEST, MOST, n)
    for name, share in OF_MENTIONS.items():
        counts = rng.binomial(mentions, rng.beta(3 * share, 3 * (1 - share), n))
        table = table.assign(**{f"count_{name}": counts.astype(float), f"of_{name}": mentions.astype(float)})
    return table


def simulate(rng: np.random.Generator, n: int, m: int) -> Run:
    """Compare a reference of n and a candidate of m documents."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare_scores(scores(n, rng, 0), scores(m, rng, n), resampling)
    table = table[table["statistic"].str.endswith("_share")]
    truth = {f"{name}_share": share for name, share in (OF_DOCUMENTS | OF_MENTIONS).items()}
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.coreference.scoring:STATISTICS",
    (
        Setting("60 against 150", partial(simulate, n=60, m=150), ("*",)),
        Setting("400 against 100", partial(simulate, n=400, m=100), ("*",)),
    ),
    dict.fromkeys((f"{name}_share" for name in OF_DOCUMENTS), "few documents are counted, and few values are possible"),
)
