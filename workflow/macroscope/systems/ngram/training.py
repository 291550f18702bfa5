"""Training of a system of kind `ngram`: counting the n-grams of the train split; and perplexity on held-out documents.

Sampling and perplexity estimate the model from these counts.
"""

import logging
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.documents import read_documents
from macroscope.files import atomic, read_json, scratch_folder, write_json
from macroscope.systems.formats import read_training_texts
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.counts import Trie, count_ngrams, read_trie, read_words
from macroscope.systems.ngram.model import estimate, to_backoff_model, write_word_numbers
from macroscope.systems.tokenizer import split_words

log = logging.getLogger("macroscope")

BEGINNING, END = 0, 1
"""Numbers of the word before every text, which is never generated, and of the word that ends it."""


@dataclass(frozen=True)
class NgramCounts:
    """N-gram counts of a train split.

    Attributes
    ----------
    trie
        Trie of the n-grams, memory-mapped from the files of the folder.
    words
        Words by number.
    """

    trie: Trie
    words: list[str]

    @classmethod
    def read(cls, folder: Path) -> "NgramCounts":
        """Memory-map the output of `count_train_split`."""
        words = pq.read_table(folder / "words.parquet")["word"].to_pylist()
        return cls(read_trie(folder, len(words), BEGINNING), words)


def count_train_split(documents: Path, output: Path, options: NgramSystem, *, checkpoints: Path) -> None:
    """Count the n-grams of the train split; a killed job resumes after its last finished order.

    Words are those of `tokenizer.split_words`. The vocabulary is closed: words outside the train split are never
    generated.

    Writes into the folder `output`: words.parquet, the words by number; and the counts of every order
    (`counts.count_ngrams`).
    """
    status = documents.stat()
    identity = {"order": options.order, "titles": options.titles, "documents": [status.st_size, status.st_mtime_ns]}
    identity_file, stream_file, words = (checkpoints / name for name in ("identity.json", "stream", "words.parquet"))
    if checkpoints.exists() and (not identity_file.exists() or read_json(identity_file) != identity):
        shutil.rmtree(checkpoints)
    checkpoints.mkdir(parents=True, exist_ok=True)
    write_json(identity_file, identity)
    if not words.exists():
        texts = read_training_texts(documents, "train", options.titles)
        with stream_file.open("wb") as file:
            vocabulary = write_word_numbers(map(split_words, texts), file)
        with atomic(words) as temporary:
            pd.DataFrame({"word": vocabulary}).to_parquet(temporary, index=False)
    size = pq.read_metadata(words).num_rows
    counts = checkpoints / "counts"
    stream = read_words(stream_file)
    trie = count_ngrams(stream, options.order, size, BEGINNING, counts)
    n_texts = int(trie.levels[0].counts[BEGINNING])
    log.info(
        "%s texts, %s words, vocabulary %s",
        f"{n_texts:,}",
        f"{len(stream) - 2 * n_texts:,}",
        f"{size - 2:,}",
    )
    for n, level in enumerate(trie.levels, 1):
        log.info("%s distinct %d-grams", f"{len(level.keys):,}", n)
    with atomic(output) as folder:
        folder.mkdir()
        # Keys mark an order as finished. They move first, so that after a kill no half-moved order looks finished.
        for path in (words, *sorted(counts.iterdir(), key=lambda path: not path.name.endswith("-keys"))):
            shutil.move(path, folder / path.name)
    shutil.rmtree(checkpoints)


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
