"""Scores: how likely the topic proportions of each document are under Dirichlet(alpha) (deng2022 Appendix C)."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import read_proportions
from macroscope.critics.languages.model import LatentDirichletAllocation
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.files import atomic


def score(latents: Path, inference: Path, *, options: LanguagesOptions, output: Path) -> None:
    """Score latents under the Dirichlet distribution of the model.

    Writes id, opening, words, and, NaN for a document without a word of the vocabulary:
    nll
        T(x) = -E log Dirichlet(z; alpha) over the posterior, in nats. Of a density: it may be below 0.
    nll_sample
        The same at the one draw of z that is in the latents.
    entropy
        NaN: that of the posterior has no closed form, and samples do not give it.
    units
        Dimensions of the proportions, topics - 1.
    count_mixed, of_mixed
        Whether the document is a mix of languages: its largest expected share is below `mixed_below`; and 1.
    """
    model, found = LatentDirichletAllocation.load(inference / "model.npz"), read_proportions(latents)
    known = found.words > 0
    scores = found.keys.assign(
        words=found.words,
        nll=model.cross_entropy(found.log_mean),
        nll_sample=model.cross_entropy(found.log_sample),
        entropy=np.nan,
        units=len(model.alpha) - 1,
        count_mixed=np.where(known, found.mean.max(axis=1) < options.mixed_below, np.nan),
        of_mixed=np.where(known, 1.0, np.nan),
    )
    with atomic(output) as temporary:
        pd.DataFrame(scores).to_parquet(temporary, index=False)
