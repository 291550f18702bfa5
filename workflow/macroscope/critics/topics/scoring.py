"""Scores: how likely the topic strengths of each document are under N(mu, Sigma) (deng2022 §6, Appendix A)."""

from pathlib import Path

import pandas as pd
import torch

from macroscope.critics.latents import write_scores
from macroscope.critics.topics.latents import Array, read_posteriors
from macroscope.critics.topics.model import CorrelatedTopicModel, entropy
from macroscope.critics.topics.options import TopicsOptions


def score(latents: Path, inference: Path, *, options: TopicsOptions, output: Path) -> None:
    """Score latents under the Gaussian of the topic model.

    Writes id, opening, words, and in nats, NaN for a document without a word of the vocabulary:
    nll
        T(x) = -E_q log N(eta; mu, Sigma), exactly; with `convention: published` at the posterior's mean alone.
    nll_published
        The latter, beside the definition.
    entropy, kl
        Of q, and from it to the prior: T(x) = entropy + kl. A density's entropy may be below 0. Under the definition.
    units
        Dimensions of the topic strengths.
    resolved
        Sum over the dimensions of 1 - nu^2 (Sigma^-1)_ii: the share of the variance that a document without words has
        which its words take away. Where it is small, posteriors stay near the prior whatever the document is like.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    write_scores((_scored(*some, model, options) for some in read_posteriors(latents)), output, latents)


def _scored(
    keys: pd.DataFrame, means: Array, variances: Array, model: CorrelatedTopicModel, options: TopicsOptions
) -> pd.DataFrame:
    mean, variance = torch.tensor(means), torch.tensor(variances)
    own, at_mean = entropy(variance), model.negative_log_density(mean)
    resolved = (1 - variance * model.precision.diagonal()).sum(dim=1)
    scores = keys.assign(units=model.dimensions, entropy=own.numpy(), resolved=resolved.numpy())
    if options.convention == "published":
        return scores.assign(nll=at_mean.numpy())
    nll = model.cross_entropy(mean, variance)
    return scores.assign(nll=nll.numpy(), kl=(nll - own).numpy(), nll_published=at_mean.numpy())
