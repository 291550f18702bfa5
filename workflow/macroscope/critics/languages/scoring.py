"""Scores: latent NLL of each document's topic proportions under Dirichlet(alpha) (deng2022 Appendix C)."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import read_proportions
from macroscope.critics.languages.model import LatentDirichletAllocation
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.files import atomic


def score(latents: Path, inference: Path, *, options: LanguagesOptions, output: Path) -> None:
    """Score latents under the Dirichlet distribution of the model.

    Writes id, opening, words, and, NaN for a document without words of the vocabulary:
    nll
        T(x) = -E log Dirichlet(z; alpha) over the posterior, in nats; of a density, so it may be negative.
    nll_sample
        -log Dirichlet(z; alpha) at the sample of z in the latents.
    entropy
        NaN: the entropy of the posterior has no closed form, and samples do not estimate it.
    units
        Number of dimensions of the proportions, topics - 1.
    count_mixed, of_mixed
        Whether the document is a mix of languages (largest expected share below `mixed_below`), and the constant 1.
    """
    model, proportions = LatentDirichletAllocation.load(inference / "model.npz"), read_proportions(latents)
    has_words = proportions.words > 0
    scores = proportions.keys.assign(
        words=proportions.words,
        nll=model.cross_entropy(proportions.log_mean),
        nll_sample=model.cross_entropy(proportions.log_sample),
        entropy=np.nan,
        units=len(model.alpha) - 1,
        count_mixed=np.where(has_words, proportions.mean.max(axis=1) < options.mixed_below, np.nan),
        of_mixed=np.where(has_words, 1.0, np.nan),
    )
    with atomic(output) as temporary:
        pd.DataFrame(scores).to_parquet(temporary, index=False)
