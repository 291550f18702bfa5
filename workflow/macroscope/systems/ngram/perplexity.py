"""Perplexity of an n-gram model on held-out documents, exactly from the model's probabilities."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.documents import read_documents
from macroscope.files import atomic, scratch_folder
from macroscope.systems.formats import read_training_texts
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.backoff import to_backoff_model
from macroscope.systems.ngram.model import estimate
from macroscope.systems.ngram.training import NgramCounts
from macroscope.systems.tokenizer import split_words

log = logging.getLogger("macroscope")


def measure_perplexity(documents: Path, model: Path, output: Path, options: NgramSystem, *, split: str) -> None:
    """Measure the negative log-likelihood of every document of a split under the model of the train split.

    The tokens of a document are the words of `tokenizer.split_words` and its end. All words outside the train split
    count as one unknown word, to which the model gives a share; samples never contain it.

    Writes
    ------
    id; nll (nats); tokens; words (split at white space, as for language models); unknown (number of unknown tokens).
    """
    counts = NgramCounts.read(model)
    with scratch_folder(output) as folder:
        estimated = estimate(counts.trie, options.smoothing, unknown=True, folder=folder)
        backoff = to_backoff_model(estimated, counts.words)
    held_out = list(read_training_texts(documents, split, options.titles))
    tokens = [split_words(text) for text in held_out]
    unknown = [sum(word not in backoff.words for word in text) for text in tokens]
    table = pd.DataFrame(
        {
            "id": [document.id for document in read_documents(documents, split)],
            "nll": -backoff.score(tokens),
            "tokens": [len(text) + 1 for text in tokens],
            "words": [len(text.split()) for text in held_out],
            "unknown": unknown,
        }
    )
    log.info("%d of %d tokens are unknown words", sum(unknown), int(np.sum(table["tokens"])))
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)
