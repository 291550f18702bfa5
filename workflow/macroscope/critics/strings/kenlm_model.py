"""Scores of texts under a given n-gram model of KenLM's (Heafield 2011), such as one that `lmplz` made of other texts.

The model stands for the distribution of real text. It was estimated from neither side, so cross-fitting is not needed.
No distribution of the candidate is estimated, so there are no divergences: the latent NLL of both sides is compared.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.strings.cross_fitting import LogProbabilities
from macroscope.critics.strings.latents import Texts
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.document_features import Array
from macroscope.statistics.latent import compare_scores
from macroscope.statistics.tidy import ROWS
from macroscope.systems.ngram.model import words_of

LN10 = float(np.log(10))


def log_probabilities(model: Path, texts: Sequence[str]) -> Array:
    """Return the natural logarithm of the probability of each text, including its end.

    Parameters
    ----------
    model
        ARPA file, or binary file of KenLM's `build_binary`.
    """
    import kenlm

    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        loaded = kenlm.Model(str(model), config)
    except OSError as error:
        # What comes before is a place in KenLM's own source.
        reason = " ".join(str(error).rpartition("Exception. ")[2].split()).strip("()")
        raise MacroscopeError(
            f"{model}: KenLM cannot read this model ({reason}); give an ARPA file or a binary file of build_binary"
        ) from None
    return np.array([loaded.score(" ".join(words_of(text))) * LN10 for text in texts])


def compare_under_model(
    reference: Texts, candidate: Texts, model: Path, resampling: Resampling
) -> tuple[pd.DataFrame, LogProbabilities]:
    """Compare the latent NLL and PPL of both collections under the model; the end of a text counts as a word.

    Returns
    -------
    data frame
        Columns `statistics.tidy.ROWS`; see `statistics.latent.compare_scores`.
    scores
        Log-probabilities of all texts, without those under a distribution of the candidate.
    """
    sides = (reference, candidate)
    logs = (log_probabilities(model, reference.texts), log_probabilities(model, candidate.texts))
    tables = [texts.keys.assign(nll=-values, units=texts.words + 1) for texts, values in zip(sides, logs, strict=True)]
    rows = compare_scores(tables[0], tables[1], resampling)[list(ROWS)]
    unknown = (np.full(len(reference), np.nan), np.full(len(candidate), np.nan))
    return rows, LogProbabilities(logs, unknown, fallback_orders=0)
