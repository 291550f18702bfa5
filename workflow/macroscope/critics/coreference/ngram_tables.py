"""Which n-grams of chains make the difference (deng2022 Tables 6, 15, 16 and 17)."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.coreference.latents import name_of
from macroscope.critics.coreference.ngrams import ChainModel
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import Chains, IntArray, windows

BEGIN = "⊢"
"""What stands before a chain, in tables."""
ROWS = 50
"""Rows of a table of n-grams."""


def contributions(prior: ChainPrior, reference: Chains, candidate: Chains) -> pd.DataFrame:
    """n-grams by what they contribute to the difference in latent NLL a symbol (Table 6), the largest first.

    The difference of the two means is the sum over n-grams of (share in the system - share in real text) x cost.

    Returns
    -------
    data frame
        z_1 ... z_n, reference_share, candidate_share, cost (nats), contribution (nats a symbol).
    """
    model = prior.model
    keys, (real, ours) = _counted(model, reference, candidate)
    shares = real / max(1, real.sum()), ours / max(1, ours.sum())
    costs = -np.log(model.probabilities(keys))
    contribution = (shares[1] - shares[0]) * costs
    order = np.argsort(-contribution, kind="stable")[:ROWS]
    table = _symbols(prior, keys[order]).assign(reference_share=shares[0][order], candidate_share=shares[1][order])
    return table.assign(cost=costs[order], contribution=contribution[order])


def differences(prior: ChainPrior, reference: Chains, candidate: Chains, least: int) -> pd.DataFrame:
    """n-grams whose last symbol is more, or less, probable in the system than in real text (Tables 16 and 17).

    Each side has a model of its own, fitted to its chains. The first half of the rows are those that are most probable
    in the system compared with real text, the other half those of the other direction.

    Parameters
    ----------
    least
        How often an n-gram must occur on both sides.

    Returns
    -------
    data frame
        z_1 ... z_n, reference_probability, candidate_probability, log_ratio (nats), reference_count, candidate_count.
    """
    packing, published = prior.model.packing, prior.model.published
    keys, counts = _counted(prior.model, reference, candidate)
    often = (counts >= least).all(axis=0)
    keys, counts = keys[often], counts[:, often]
    if len(keys):
        models = (ChainModel.fit(side, packing, published) for side in (reference, candidate))
        sides = [np.log(model.probabilities(keys)) for model in models]
    else:  # a side may have no chains at all
        sides = [np.zeros(0), np.zeros(0)]
    ratio = sides[1] - sides[0]
    order = np.argsort(-ratio, kind="stable")
    most = min(ROWS // 2, int((ratio > 0).sum())), min(ROWS // 2, int((ratio < 0).sum()))
    chosen = np.concatenate([order[: most[0]], order[::-1][: most[1]]])
    table = _symbols(prior, keys[chosen]).assign(
        reference_probability=np.exp(sides[0][chosen]), candidate_probability=np.exp(sides[1][chosen])
    )
    return table.assign(log_ratio=ratio[chosen], reference_count=counts[0, chosen], candidate_count=counts[1, chosen])


def unlikely(prior: ChainPrior, keys: IntArray, costs: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Windows beside what would be most likely at their end (Table 15).

    Parameters
    ----------
    keys, costs
        Packed windows, and the costs of their last symbols in nats.

    Returns
    -------
    data frame
        z_1 ... z_n, cost, likely (the most probable mention there), likely_cost; a row a window, in their order.
    """
    best = [_best(prior, int(key)) for key in keys]
    table = _symbols(prior, keys).assign(cost=costs)
    return table.assign(likely=[symbol for symbol, _ in best], likely_cost=[cost for _, cost in best])


def _best(prior: ChainPrior, key: int) -> tuple[str, float]:
    following, probabilities = prior.model.distribution(key)
    most = int(np.argmax(probabilities[1:])) + 1  # the first one is the beginning of a sentence
    return name_of([following[most]], prior.surfaces), float(-np.log(probabilities[most]))


def _counted(model: ChainModel, reference: Chains, candidate: Chains) -> tuple[IntArray, IntArray]:
    """All windows of both sides, and how often each occurs: (windows,), (2, windows)."""
    # Each side by itself: windows are many, and different ones few.
    sides = [np.unique(windows(side, model.packing), return_counts=True) for side in (reference, candidate)]
    keys = np.union1d(*(found for found, _ in sides))
    counts = np.zeros((2, len(keys)), np.int64)
    for row, (found, often) in zip(counts, sides, strict=True):
        row[np.searchsorted(keys, found)] = often
    return keys, counts


def _symbols(prior: ChainPrior, keys: IntArray) -> pd.DataFrame:
    order, packing = prior.model.packing.order, prior.model.packing
    rows = [[name_of([symbol], prior.surfaces) or BEGIN for symbol in packing.symbols(int(key), order)] for key in keys]
    return pd.DataFrame(rows, columns=[f"z_{place}" for place in range(1, order + 1)])
