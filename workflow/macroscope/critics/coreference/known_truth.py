"""What theory gives for the systems of a simulated corpus whose persons are known: the critic's known truth."""

import math
from pathlib import Path

import pandas as pd

from macroscope.corpora.simulated.people import PeopleProcess, Story, simulate_stories
from macroscope.critics.coreference.chains import Chain, chain_of
from macroscope.critics.coreference.latents import chains_in
from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.files import write_json

DRAWS = 5000


def write_known_truth(
    process: Path, prior: Path, *, order: str, seed: int, options: CoreferenceOptions, output: Path
) -> None:
    """Write what theory gives for a system of this order: latent_ppl, and what that is.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        See `macroscope.corpora.simulated.people`.
    output
        JSON: latent_ppl, the expected cost of the true chains under the fitted prior (over 5,000 stories, whose Monte
        Carlo error is far below any interval here); basis; and for the process itself process_latent_ppl, under its own
        probabilities, which is exact.
    """
    truth, model = PeopleProcess.load(process), ChainPrior.load(prior)
    chains = [true_chain(story, options.single) for story in simulate_stories(truth, order, DRAWS, seed + (1 << 31))]
    table = pd.DataFrame({"surfaces": [c.surfaces for c in chains], "entities": [c.entities for c in chains]})
    costs = -model.model.log_probabilities(chains_in(table, model.index))
    result = {
        "latent_ppl": math.exp(float(costs.mean())),
        "basis": "expected cost of the true chains under the fitted prior",
    }
    if order == "process":
        result["process_latent_ppl"] = truth.latent_ppl()
    write_json(output, result)


def true_chain(story: Story, single: str) -> Chain:
    """Chain of a story as it was made."""
    return chain_of(true_mentions(story, ""), story.text, single)


def true_mentions(story: Story, name: str) -> Resolved:
    """Who is mentioned in a story, as a resolver that makes no mistake would say."""
    mentions = tuple(Mention(m.start, m.end, m.start, m.end, m.entity, m.pronoun, True) for m in story.mentions)
    return Resolved(name, story.sentence_starts, mentions)
