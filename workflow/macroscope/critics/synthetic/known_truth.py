"""What theory gives for texts of the process, exactly: a dynamic programme over its states (deng2022 Table 1)."""

from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, Floats, HsmmProcess
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.files import write_json


def write_known_truth(process: Path, *, options: SyntheticOptions, order: str, output: Path) -> None:
    """Write what theory gives for a system of this order: latent_ppl, and what that is.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.hsmm`.
    output
        JSON: latent_ppl, with what it costs that each sub-sequence might have been invalid; basis; and for the process
        itself process_latent_ppl, without.
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
    """E[-log P(z)] / M of texts of an order under the process's transitions, in nats a sub-sequence."""
    # States that nothing leads to cost nothing: nothing leads to them.
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
    """Of texts in random order: any place is first, and any two places stand side by side, as often as any other."""
    places, segments = process.marginals, process.segments
    total = places.mean(axis=0) @ costs[SOURCE_STATE]
    steps, pairs = np.eye(len(costs)), 0.0
    for distance in range(1, segments):
        steps = steps @ process.transitions
        weight = places[: segments - distance].sum(axis=0)
        joint = weight[:, None] * steps  # of two places so far apart, in their order
        pairs += float((joint * (costs + costs.T)).sum())
    return float((total + (pairs / segments if segments > 1 else 0.0)) / segments)
