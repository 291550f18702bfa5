"""Perplexity of a hidden semi-Markov model on held-out documents: exact, over all states and segmentations."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from macroscope.documents import read_documents
from macroscope.files import atomic
from macroscope.systems.formats import read_training_texts
from macroscope.systems.hsmm import HsmmSystem
from macroscope.systems.hsmm.marginal import log_marginal
from macroscope.systems.hsmm.model import Hsmm
from macroscope.systems.hsmm.texts import Texts, collate, read_split_words

log = logging.getLogger("macroscope")

_TEXTS_PER_BATCH = 32


def measure_perplexity(documents: Path, model: Path, output: Path, options: HsmmSystem, *, split: str) -> None:
    """Measure the negative log-likelihood of every document of a split.

    Writes
    ------
    id; nll (nats) and tokens, both including the end of the text if `ends`; words (split at white space); unknown
    (number of tokens that are not in the train split).
    """
    fitted, ngrams = Hsmm.load(model)
    texts, held_out = (
        Texts(read_split_words(documents, split), ngrams),
        list(read_training_texts(documents, split, titles=False)),
    )
    table = pd.DataFrame(
        {
            "id": [document.id for document in read_documents(documents, split)],
            "nll": compute_nll(fitted, texts),
            "tokens": texts.sizes + options.ends,
            "words": [len(text.split()) for text in held_out],
            "unknown": [int((numbers == 0).sum()) for numbers in texts.numbers],
        }
    )
    log.info("%d of %d tokens are unknown words", table["unknown"].sum(), table["tokens"].sum())
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


@torch.inference_mode()
def compute_nll(model: Hsmm, texts: Texts) -> np.ndarray:
    """Compute -log P(x) of each text, in nats, on a GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device)
    nll, normalisers = np.empty(len(texts)), model.normalisers()
    for indices in texts.by_length(_TEXTS_PER_BATCH, model.states):
        batch = {name: tensor.to(device) for name, tensor in collate([texts[index] for index in indices]).items()}
        nll[indices] = -log_marginal(*model.batch(normalisers=normalisers, **batch)).double().cpu().numpy()
    return nll
