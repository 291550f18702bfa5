"""What theory gives for the systems of a simulated corpus: the coherence critic's known truth.

Scores are expectations over the process that made the corpus, per latent state as the latent PPL is: its cross-entropy
under the fitted prior. For the process itself the entropy is known as well; the two differ by what the prior could not
learn from so few documents.
"""

from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.articles import draw_section_types
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.critics.coherence.prior import SectionPrior
from macroscope.critics.coherence.priors import Priors
from macroscope.critics.coherence.smoothing import Array
from macroscope.files import write_json

DRAWS = 20_000


def write_known_truth(process: Path, prior: Path, *, order: str, seed: int, output: Path) -> None:
    """Write what theory gives for a system of this order: latent_ppl, and what that is.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.articles`.
    output
        JSON: latent_ppl, what the fitted prior gives to such documents on average; basis; and for the process itself
        process_latent_ppl, under its own probabilities.
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
    """exp(E[T] / E[units]) of a system that knows its section types, under a prior.

    Exact for "process" and "independent". For "shuffled" the mean over all orders is exact for each multiset of
    sections, and the multisets are 20,000 draws: their Monte Carlo error is far below any interval here.
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
    """Mean over documents of the mean NLL over all orders of its sections, and the mean number of sections.

    In a random order each section is first, and last, with probability 1/M, and each ordered pair of sections stands
    side by side with probability 1/M.
    """
    rng = np.random.default_rng([seed, 0x5F])
    index = {name: i for i, name in enumerate(process.states)}
    nll = sections = 0.0
    for _ in range(DRAWS):
        counts = np.bincount([index[t] for t in draw_section_types(process, "process", rng)], minlength=len(index))
        m = counts.sum()
        pairs = counts @ then @ counts - counts @ np.diag(then)
        nll += (counts @ first + counts @ last + pairs) / m
        sections += m
    return nll / DRAWS, sections / DRAWS


def _costs(process: SectionProcess, prior: SectionPrior) -> Array:
    """Costs of all transitions by the process's states, in nats: begin first, the end last.

    A state that the prior never saw is as costly as an impossible one.
    """
    index = {name: i for i, name in enumerate(prior.types)}
    costs = np.full((len(process.states) + 1, len(process.states) + 1), np.inf)
    known = [k for k, name in enumerate(process.states) if name in index]
    theirs = [index[process.states[k]] for k in known]
    rows, columns = np.array([0, *(1 + k for k in known)]), np.array([*known, len(process.states)])
    prior_rows, prior_columns = np.array([0, *(1 + i for i in theirs)]), np.array([*theirs, len(prior.types)])
    costs[np.ix_(rows, columns)] = -prior.log_probabilities[np.ix_(prior_rows, prior_columns)]
    return costs


def _expected(weights: Array, costs: Array) -> float:
    """Sum of weights x costs with 0 x inf = 0."""
    happens = weights > 0
    return float(weights[happens] @ costs[happens])
