"""Texts of a known process, scored by it: intervals and tests against theory."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.corpora.simulated import HsmmSizes
from macroscope.corpora.simulated.hsmm import hsmm_process, simulate_segments
from macroscope.critics.synthetic.scoring import StateChain, expected_nll, score_latents
from macroscope.options import Resampling
from macroscope.statistics.latent import compare_scores

from ..setting import Case, Run, Setting, list_estimates

PROCESS = hsmm_process(HsmmSizes(), 1)
COSTS = StateChain(PROCESS, 0.001)
TAIL = 0.1
"""Share of the texts that are unfinished."""


def scores(n: int, rng: np.random.Generator, order: str, start: int) -> pd.DataFrame:
    """Simulate the scores of n texts of an order."""
    texts = simulate_segments(PROCESS, order, n, int(rng.integers(1 << 30)))
    latents = pd.DataFrame(
        {
            "id": np.arange(start, start + n),
            "opening": "",
            "states": [PROCESS.states[states] for states in texts],
            "tail": rng.random(n) < TAIL,
            "unknown_symbols": 0,
            "tokens": 50,
        }
    )
    return score_latents(latents, PROCESS, COSTS).drop(columns=["opening", "categories"])


def simulate(rng: np.random.Generator, n: int, m: int, order: str = "process") -> Run:
    """Compare a reference of n texts of the process with a candidate of m texts of an order."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare_scores(scores(n, rng, "process", 0), scores(m, rng, order, n), resampling)
    nats = _nats(order)
    truth = {
        "latent_nll": nats * (PROCESS.segments + TAIL),
        "latent_ppl": np.exp(nats),
        "latent_ppl_ratio": np.exp(nats - _nats("process")),
        "latent_ppl_valid": np.exp(expected_nll(PROCESS, order)),
        "valid_share": 1 - TAIL,
        "unfinished_share": TAIL,
    }
    return [estimate for estimate in list_estimates(table) if estimate.statistic in truth], truth


def _nats(order: str) -> float:
    """Return the expected cost of a sub-sequence, tails included."""
    total = PROCESS.segments * (expected_nll(PROCESS, order) - np.log1p(-COSTS.invalid))
    return float((total - TAIL * np.log(COSTS.invalid)) / (PROCESS.segments + TAIL))


CASE = Case(
    "macroscope.statistics.latent:STATISTICS",
    (
        Setting("simulated strings, 60 against 150", partial(simulate, n=60, m=150), ("latent_*", "*_share")),
        Setting("simulated strings, 200 against 30", partial(simulate, n=200, m=30), ("latent_*", "*_share")),
        Setting(
            "simulated strings, 60 against 60 of random states",
            partial(simulate, n=60, m=60, order="independent"),
            ("*_share",),
            {"latent_ppl": 0.99},
        ),
    ),
    dict.fromkeys(("valid_share", "unfinished_share"), "few documents are counted, and few values are possible"),
)
