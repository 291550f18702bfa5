"""Texts of a process that is known exactly, scored by it: intervals and tests against what theory gives."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.hsmm import hsmm_process, simulate_segments
from macroscope.corpora.simulated.options import HsmmSizes
from macroscope.critics.synthetic.chain import StateChain
from macroscope.critics.synthetic.known_truth import expected_nll
from macroscope.critics.synthetic.scoring import scored
from macroscope.statistics.latent import Resampling, compare

from ..setting import Case, Drawn, Setting

PROCESS = hsmm_process(HsmmSizes(), 1)
COSTS = StateChain(PROCESS, 0.001)
TAIL = 0.1
"""Share of the texts that are not finished."""


def scores(n: int, rng: np.random.Generator, order: str, start: int) -> pd.DataFrame:
    """Scores of n texts of an order."""
    texts = simulate_segments(PROCESS, order, n, int(rng.integers(1 << 30)))
    latents = pd.DataFrame(
        {
            "id": np.arange(start, start + n),
            "opening": "",
            "states": [PROCESS.states[some] for some in texts],
            "tail": rng.random(n) < TAIL,
            "unknown_symbols": 0,
            "tokens": 50,
        }
    )
    return scored(latents, PROCESS, COSTS).drop(columns=["opening", "categories"])


def draw(rng: np.random.Generator, n: int, m: int, order: str = "process") -> Drawn:
    """Reference of n texts of the process, candidate of m of an order."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare(scores(n, rng, "process", 0), scores(m, rng, order, n), resampling)
    columns = ["statistic", "value", "ci_low", "ci_high", "p_value"]
    nats = _nats(order)
    truth = {
        "latent_nll": nats * (PROCESS.segments + TAIL),
        "latent_ppl": np.exp(nats),
        "latent_ppl_ratio": np.exp(nats - _nats("process")),
        "latent_ppl_valid": np.exp(expected_nll(PROCESS, order)),
        "valid_share": 1 - TAIL,
        "unfinished_share": TAIL,
    }
    return [row for row in table[columns].itertuples(index=False, name=None) if row[0] in truth], truth


def _nats(order: str) -> float:
    """Expected cost of a sub-sequence, the tails among them."""
    whole = PROCESS.segments * (expected_nll(PROCESS, order) - np.log1p(-COSTS.invalid))
    return float((whole - TAIL * np.log(COSTS.invalid)) / (PROCESS.segments + TAIL))


CASE = Case(
    "macroscope.statistics.latent:STATISTICS",
    (
        Setting("simulated strings, 60 against 150", partial(draw, n=60, m=150), ("latent_*", "*_share")),
        Setting("simulated strings, 200 against 30", partial(draw, n=200, m=30), ("latent_*", "*_share")),
        Setting(
            "simulated strings, 60 against 60 of states by chance",
            partial(draw, n=60, m=60, order="independent"),
            ("*_share",),
            {"latent_ppl": 0.99},
        ),
    ),
    dict.fromkeys(("valid_share", "unfinished_share"), "few documents have it, and few values are possible"),
)
