"""Scores: latent NLL of each document's topic strengths under N(mu, Sigma) (deng2022 §6, Appendix A)."""

from pathlib import Path

import pandas as pd
import torch

from macroscope.critics.latents import write_scores
from macroscope.critics.topics.latents import Array, read_posteriors
from macroscope.critics.topics.model import CorrelatedTopicModel, entropy
from macroscope.critics.topics.options import TopicsOptions


def score(latents: Path, inference: Path, *, options: TopicsOptions, output: Path) -> None:
    """Score latents under the Gaussian of the topic model.

    Writes id, opening, words, and, in nats and NaN for a document without words of the vocabulary:
    nll
        T(x) = -E_q log N(eta; mu, Sigma), exactly; with `convention: published`, at the posterior's mean only.
    nll_published
        Value at the posterior's mean; under the definition only.
    log_likelihood, log_evidence_bound
        E_q log P(x|z) of the words, by the bound of the variational inference, and the bound itself, which is
        log_likelihood minus the KL divergence of q from the prior.
    entropy, kl
        Entropy of q, and KL divergence of q from the prior: T(x) = entropy + kl. The entropy of a density may be
        negative. kl is written under the definition only.
    units
        Number of dimensions of the topic strengths.
    resolved
        Sum over dimensions of 1 - nu^2 (Sigma^-1)_ii: the share of the prior variance that the document's words remove.
        If it is small, posteriors stay near the prior, whatever the document.
    number_patchiness
        Patchiness of the topics (`patchiness.measure_patchiness`), not in nats.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    write_scores((_score_batch(*batch, model, options) for batch in read_posteriors(latents)), output, latents)


def _score_batch(
    keys: pd.DataFrame, means: Array, variances: Array, model: CorrelatedTopicModel, options: TopicsOptions
) -> pd.DataFrame:
    mean, variance = torch.tensor(means), torch.tensor(variances)
    entropies, at_mean = entropy(variance), model.negative_log_density(mean)
    resolved = (1 - variance * model.precision.diagonal()).sum(dim=1)
    nll = model.cross_entropy(mean, variance)
    kl = (nll - entropies).numpy()
    bound = keys.pop("bound")
    scores = keys.rename(columns={"patchiness": "number_patchiness"}).assign(
        units=model.dimensions, entropy=entropies.numpy(), resolved=resolved.numpy()
    )
    scores = scores.assign(log_likelihood=bound + kl, log_evidence_bound=bound)
    if options.convention == "published":
        return scores.assign(nll=at_mean.numpy())
    return scores.assign(nll=nll.numpy(), kl=kl, nll_published=at_mean.numpy())
