"""Expected latent PPL of the systems of a simulated corpus, computed from the true mentions."""

import math
from pathlib import Path

import pandas as pd

from macroscope.corpora.simulated.people import PeopleProcess, Story, simulate_stories
from macroscope.critics.coreference.chains import Chain, build_chain
from macroscope.critics.coreference.latents import encode_chains
from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.files import write_json

STORIES = 5000


def write_known_truth(
    process: Path, prior: Path, *, order: str, seed: int, options: CoreferenceOptions, output: Path
) -> None:
    """Write the theoretical latent PPL of a system of this order.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        Order or defect of the stories; see `macroscope.corpora.simulated.people`.
    output
        JSON file to write. latent_ppl: from the expected cost of the true chains under the fitted prior (over 5,000
        stories, whose Monte Carlo error is far below any interval here); basis: how it is computed; for the process
        itself also process_latent_ppl: exact value under its own probabilities.
    """
    truth, model = PeopleProcess.load(process), ChainPrior.load(prior)
    chains = [
        build_true_chain(story, options.single) for story in simulate_stories(truth, order, STORIES, seed + (1 << 31))
    ]
    table = pd.DataFrame({"surfaces": [c.surfaces for c in chains], "entities": [c.entities for c in chains]})
    costs = -model.model.log_probabilities(encode_chains(table, model.index))
    result = {
        "latent_ppl": math.exp(float(costs.mean())),
        "basis": "expected cost of the true chains under the fitted prior",
    }
    if order == "process":
        result["process_latent_ppl"] = truth.latent_ppl()
    write_json(output, result)


def build_true_chain(story: Story, single: str) -> Chain:
    """Build the chain of a story from its true mentions."""
    return build_chain(get_true_mentions(story, ""), story.text, single)


def get_true_mentions(story: Story, name: str) -> Resolved:
    """Return the true mentions of a story in the format of resolvers."""
    mentions = tuple(Mention(m.start, m.end, m.start, m.end, m.entity, m.pronoun, True) for m in story.mentions)
    return Resolved(name, story.sentence_starts, mentions)
