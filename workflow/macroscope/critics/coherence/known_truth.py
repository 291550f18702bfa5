"""Expected latent PPL of the systems of a simulated corpus, computed from the known process.

The expected score is the cross-entropy of the process under the fitted prior, per section like the latent PPL. The
entropy of the process itself is known, too; the difference is the estimation error of the prior.
"""

from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.articles import sample_section_types
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.critics.coherence.prior import SectionPrior
from macroscope.critics.coherence.priors import Priors
from macroscope.critics.coherence.smoothing import Array
from macroscope.files import write_json

SAMPLED_DOCUMENTS = 20_000


def write_known_truth(process: Path, prior: Path, *, order: str, seed: int, output: Path) -> None:
    """Write the theoretical latent PPL of a system with this order of sections.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        Order of sections: "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.articles`.
    output
        JSON file to write. latent_ppl: expected value under the fitted prior; basis: how it is computed; for the
        process itself also process_latent_ppl: value under its own probabilities.
    """
    truth, chain = SectionProcess.load(process), Priors.load(prior).default
    result = {
        "latent_ppl": expected_latent_ppl(truth, chain, order, seed),
        "basis": "expected cost under the fitted prior",
    }
    if order == "process":
        result |= {"process_latent_ppl": truth.latent_ppl(chain.published)}
    write_json(output, result)


def expected_latent_ppl(process: SectionProcess, prior: SectionPrior, order: str, seed: int) -> float:
    """Compute exp(E[T] / E[units]) of a system with known section types, under a prior.

    Exact for "process" and "independent". For "shuffled", the mean over all orders of a multiset of sections is exact,
    and the multisets are those of 20,000 sampled documents: their Monte Carlo error is far below any interval here.
    """
    costs = _costs(process, prior)
    first, then, last = costs[0, :-1], costs[1:, :-1], costs[1:, -1]
    sections = process.expected_sections()
    if order == "process":
        nll = _expected(process.expected_transitions, costs)
    elif order == "independent":
        marginal = process.section_marginal()
        nll = float(marginal @ first + (sections - 1) * (marginal @ then @ marginal) + marginal @ last)
    else:
        nll, sections = _shuffled(process, first, then, last, seed)
    return float(np.exp(nll / prior.units(np.array(sections))))


def _shuffled(process: SectionProcess, first: Array, then: Array, last: Array, seed: int) -> tuple[float, float]:
    """Estimate the mean NLL over documents and all orders of their sections, and the mean number of sections.

    In a random order, each section is first (and last) with probability 1/M, and each ordered pair of sections is
    adjacent with probability 1/M.
    """
    rng = np.random.default_rng([seed, 0x5F])
    index = {name: i for i, name in enumerate(process.states)}
    nll = sections = 0.0
    for _ in range(SAMPLED_DOCUMENTS):
        counts = np.bincount([index[t] for t in sample_section_types(process, "process", rng)], minlength=len(index))
        m = counts.sum()
        pairs = counts @ then @ counts - counts @ np.diag(then)
        nll += (counts @ first + counts @ last + pairs) / m
        sections += m
    return nll / SAMPLED_DOCUMENTS, sections / SAMPLED_DOCUMENTS


def _costs(process: SectionProcess, prior: SectionPrior) -> Array:
    """Compute the costs in nats of all transitions between the process's states: begin first, end last.

    Transitions to and from states that the prior never saw have infinite cost.
    """
    index = {name: i for i, name in enumerate(prior.types)}
    costs = np.full((len(process.states) + 1, len(process.states) + 1), np.inf)
    shared = [k for k, name in enumerate(process.states) if name in index]
    prior_states = [index[process.states[k]] for k in shared]
    rows, columns = np.array([0, *(1 + k for k in shared)]), np.array([*shared, len(process.states)])
    prior_rows, prior_columns = (
        np.array([0, *(1 + i for i in prior_states)]),
        np.array([*prior_states, len(prior.types)]),
    )
    costs[np.ix_(rows, columns)] = -prior.log_probabilities[np.ix_(prior_rows, prior_columns)]
    return costs


def _expected(weights: Array, costs: Array) -> float:
    """Sum weights x costs, with 0 x inf = 0."""
    happens = weights > 0
    return float(weights[happens] @ costs[happens])
