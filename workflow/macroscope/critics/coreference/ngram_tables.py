"""Tables of n-grams of chains that differ between system and real text (deng2022 Tables 6, 15, 16 and 17)."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.coreference.latents import format_symbols
from macroscope.critics.coreference.ngrams import ChainModel
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import PAD, Chains, IntArray, pack_windows

BEGIN = "⊢"
"""Padding before a chain, in tables."""
ROWS = 50
"""Largest number of rows of a table of n-grams."""


def rank_contributions(prior: ChainPrior, reference: Chains, candidate: Chains) -> pd.DataFrame:
    """Rank n-grams by their contribution to the difference in latent NLL per symbol (Table 6), the largest first.

    The difference of the two means is the sum over n-grams of (share in the system - share in real text) x cost.

    Returns
    -------
    data frame
        z_1 ... z_n, reference_share, candidate_share, cost (nats), contribution (nats per symbol).
    """
    model = prior.model
    keys, (reference_counts, candidate_counts) = _count_windows(model, reference, candidate)
    shares = reference_counts / max(1, reference_counts.sum()), candidate_counts / max(1, candidate_counts.sum())
    costs = -np.log(model.probabilities(keys))
    contribution = (shares[1] - shares[0]) * costs
    order = np.argsort(-contribution, kind="stable")[:ROWS]
    table = _symbol_columns(prior, keys[order]).assign(
        reference_share=shares[0][order], candidate_share=shares[1][order]
    )
    return table.assign(cost=costs[order], contribution=contribution[order])


def rank_differences(prior: ChainPrior, reference: Chains, candidate: Chains, least: int) -> pd.DataFrame:
    """Rank n-grams whose last symbol is more, or less, probable in the system than in real text (Tables 16 and 17).

    The probabilities are those of two models, one fitted to each collection. The first half of the rows has the largest
    log ratios, the second half the smallest. The first symbol of a chain is left out: it is always ".".

    Parameters
    ----------
    least
        Smallest number of occurrences of an n-gram in each collection.

    Returns
    -------
    data frame
        z_1 ... z_n, reference_probability, candidate_probability, log_ratio (nats), reference_count, candidate_count.
    """
    packing, published = prior.model.packing, prior.model.published
    keys, counts = _count_windows(prior.model, reference, candidate)
    before = packing.context(keys) & ((1 << packing.bits) - 1)
    often = (counts >= least).all(axis=0) & (before // packing.order != PAD)
    keys, counts = keys[often], counts[:, often]
    if len(keys):
        models = (ChainModel.fit(chains, packing, published) for chains in (reference, candidate))
        logs = [np.log(model.probabilities(keys)) for model in models]
    else:  # a collection may have no chains
        logs = [np.zeros(0), np.zeros(0)]
    ratio = logs[1] - logs[0]
    order = np.argsort(-ratio, kind="stable")
    most = min(ROWS // 2, int((ratio > 0).sum())), min(ROWS // 2, int((ratio < 0).sum()))
    chosen = np.concatenate([order[: most[0]], order[::-1][: most[1]]])
    table = _symbol_columns(prior, keys[chosen]).assign(
        reference_probability=np.exp(logs[0][chosen]), candidate_probability=np.exp(logs[1][chosen])
    )
    return table.assign(log_ratio=ratio[chosen], reference_count=counts[0, chosen], candidate_count=counts[1, chosen])


def tabulate_unlikely(prior: ChainPrior, keys: IntArray, costs: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Tabulate windows, each with the most likely mention at its end (Table 15).

    Parameters
    ----------
    keys, costs
        Packed windows, and the costs of their last symbols in nats.

    Returns
    -------
    data frame
        z_1 ... z_n, cost, likely (most probable mention), likely_cost; one row per window, in their order.
    """
    best = [_most_likely_mention(prior, int(key)) for key in keys]
    table = _symbol_columns(prior, keys).assign(cost=costs)
    return table.assign(likely=[symbol for symbol, _ in best], likely_cost=[cost for _, cost in best])


def _most_likely_mention(prior: ChainPrior, key: int) -> tuple[str, float]:
    following, probabilities = prior.model.distribution(key)
    most = int(np.argmax(probabilities[1:])) + 1  # the first is the sentence start
    return format_symbols([following[most]], prior.surfaces), float(-np.log(probabilities[most]))


def _count_windows(model: ChainModel, reference: Chains, candidate: Chains) -> tuple[IntArray, IntArray]:
    """Return the distinct windows of both collections, and their counts: (windows,), (2, windows)."""
    # Each collection separately, to save memory: there are many windows, but few distinct ones.
    distinct = [np.unique(pack_windows(chains, model.packing), return_counts=True) for chains in (reference, candidate)]
    keys = np.union1d(*(windows_of_side for windows_of_side, _ in distinct))
    counts = np.zeros((2, len(keys)), np.int64)
    for row, (windows_of_side, numbers) in zip(counts, distinct, strict=True):
        row[np.searchsorted(keys, windows_of_side)] = numbers
    return keys, counts


def _symbol_columns(prior: ChainPrior, keys: IntArray) -> pd.DataFrame:
    order, packing = prior.model.packing.order, prior.model.packing
    rows = [
        [format_symbols([symbol], prior.surfaces) or BEGIN for symbol in packing.symbols(int(key), order)]
        for key in keys
    ]
    return pd.DataFrame(rows, columns=[f"z_{place}" for place in range(1, order + 1)])
