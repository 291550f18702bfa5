"""Exact expected latent NLL of texts of the process, by dynamic programming over its states (deng2022 Table 1)."""

from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, Floats, HsmmProcess
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.files import write_json


def write_known_truth(process: Path, *, options: SyntheticOptions, order: str, output: Path) -> None:
    """Write the theoretical latent PPL of a system with this order of sub-sequences.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        Order of sub-sequences: "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.hsmm`.
    output
        JSON file to write. latent_ppl: includes the cost -log(1 - invalid_probability) per valid sub-sequence; basis:
        how it is computed; for the process itself also process_latent_ppl: without this cost.
    """
    truth = HsmmProcess.load(process)
    nll = expected_nll(truth, order)
    result = {
        "latent_ppl": float(np.exp(nll - np.log1p(-options.invalid_probability))),
        "basis": "expected cost of the states, exact",
    }
    if order == "process":
        result["process_latent_ppl"] = float(np.exp(nll))
    write_json(output, result)


def expected_nll(process: HsmmProcess, order: str = "process") -> float:
    """Compute E[-log P(z)] / M of texts of an order, under the process's transitions, in nats per sub-sequence."""
    # Impossible transitions have weight 0; a cost of 0 avoids 0 x inf.
    costs = -np.log(np.where(process.transitions > 0, process.transitions, 1))
    places = process.marginals
    if order == "process":
        entropies = (process.transitions * costs).sum(axis=1)
        before = np.vstack([np.eye(len(costs))[SOURCE_STATE], places[:-1]])
        return float((before @ entropies).mean())
    if order == "independent":
        onwards = np.einsum("ma,ab,mb->", places[:-1], costs, places[1:])
        return float((places[0] @ costs[SOURCE_STATE] + onwards) / process.segments)
    return _shuffled(process, costs)


def _shuffled(process: HsmmProcess, costs: Floats) -> float:
    """Compute the value for random order: all places are equally likely to be first, all pairs to be adjacent."""
    places, segments = process.marginals, process.segments
    total = places.mean(axis=0) @ costs[SOURCE_STATE]
    steps, pairs = np.eye(len(costs)), 0.0
    for distance in range(1, segments):
        steps = steps @ process.transitions
        weight = places[: segments - distance].sum(axis=0)
        joint = weight[:, None] * steps  # of two places at this distance, in process order
        pairs += float((joint * (costs + costs.T)).sum())
    return float((total + (pairs / segments if segments > 1 else 0.0)) / segments)
