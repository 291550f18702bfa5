"""Perplexity of a hidden semi-Markov model on held-out documents: exact, over all states and segmentations."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from macroscope.documents import read_documents
from macroscope.files import atomic
from macroscope.systems.hsmm.marginal import log_marginal
from macroscope.systems.hsmm.model import Hsmm
from macroscope.systems.hsmm.options import HsmmSystem
from macroscope.systems.hsmm.texts import Texts, collate, texts_of
from macroscope.systems.tokenizer import training_texts

log = logging.getLogger("macroscope")

_TEXTS_AT_ONCE = 32


def measure_perplexity(documents: Path, model: Path, output: Path, options: HsmmSystem, *, split: str) -> None:
    """Negative log-likelihood of every document of a split.

    Writes
    ------
    id; nll (nats; with `ends` that of the text's end as well); tokens (so, too); words (split at white space); unknown
    (tokens that the train split does not have).
    """
    fitted, ngrams = Hsmm.load(model)
    texts, held_out = Texts(texts_of(documents, split), ngrams), list(training_texts(documents, split, titles=False))
    table = pd.DataFrame(
        {
            "id": [document.id for document in read_documents(documents, split)],
            "nll": nll_of(fitted, texts),
            "tokens": texts.sizes + options.ends,
            "words": [len(text.split()) for text in held_out],
            "unknown": [int((numbers == 0).sum()) for numbers in texts.numbers],
        }
    )
    log.info("%d of %d tokens are unknown words", table["unknown"].sum(), table["tokens"].sum())
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


@torch.inference_mode()
def nll_of(model: Hsmm, texts: Texts) -> np.ndarray:
    """-log P(x) of each text, in nats."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device)
    found, normalisers = np.empty(len(texts)), model.normalisers()
    for places in texts.by_length(_TEXTS_AT_ONCE, model.states):
        batch = {name: some.to(device) for name, some in collate([texts[place] for place in places]).items()}
        found[places] = -log_marginal(*model.batch(normalisers=normalisers, **batch)).double().cpu().numpy()
    return found
