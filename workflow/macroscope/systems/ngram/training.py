"""Counts of the n-grams of the train split: all that samples and perplexities of a system of kind `ngram` need."""

import logging
import shutil
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from macroscope.files import atomic, read_json, write_json
from macroscope.systems.ngram.backoff import write_numbered
from macroscope.systems.ngram.counts import Trie, count_ngrams, read_trie, read_words
from macroscope.systems.ngram.options import NgramSystem
from macroscope.systems.tokenizer import training_texts
from macroscope.systems.words import split_words

log = logging.getLogger("macroscope")

BEGINNING, END = 0, 1
"""Numbers of the word before every text, which is never drawn, and of the one that ends it."""


@dataclass(frozen=True)
class Counted:
    """Counts of a train split.

    Attributes
    ----------
    trie
        Mapped from the files of the folder.
    words
        By number.
    """

    trie: Trie
    words: list[str]

    @classmethod
    def read(cls, folder: Path) -> "Counted":
        """Map what `count_train_split` wrote."""
        words = pq.read_table(folder / "words.parquet")["word"].to_pylist()
        return cls(read_trie(folder, len(words), BEGINNING), words)


def count_train_split(documents: Path, output: Path, options: NgramSystem, *, checkpoints: Path) -> None:
    """Count the n-grams of the train split; a killed job goes on after the last order that it has finished.

    Words are those of `words.split_words`; the vocabulary is closed: what the train split does not have is not drawn.
    Writes into the folder `output`: words.parquet, the words by number; and the counts of every order
    (`counts.count_ngrams`).
    """
    state = documents.stat()
    identity = {"order": options.order, "titles": options.titles, "documents": [state.st_size, state.st_mtime_ns]}
    known, stream, words = (checkpoints / name for name in ("identity.json", "stream", "words.parquet"))
    if checkpoints.exists() and (not known.exists() or read_json(known) != identity):
        shutil.rmtree(checkpoints)
    checkpoints.mkdir(parents=True, exist_ok=True)
    write_json(known, identity)
    if not words.exists():
        texts = training_texts(documents, "train", options.titles)
        with stream.open("wb") as file:
            vocabulary = write_numbered(map(split_words, texts), file)
        with atomic(words) as temporary:
            pd.DataFrame({"word": vocabulary}).to_parquet(temporary, index=False)
    size = pq.read_metadata(words).num_rows
    counts = checkpoints / "counts"
    places = read_words(stream)
    trie = count_ngrams(places, options.order, size, BEGINNING, counts)
    begun = int(trie.levels[0].counts[BEGINNING])
    log.info("%s texts, %s words, vocabulary %s", f"{begun:,}", f"{len(places) - 2 * begun:,}", f"{size - 2:,}")
    for n, level in enumerate(trie.levels, 1):
        log.info("%s different %d-grams", f"{len(level.keys):,}", n)
    with atomic(output) as folder:
        folder.mkdir()
        # Keys say that an order is done. They go first: one that is half gone is counted again after a kill.
        for path in (words, *sorted(counts.iterdir(), key=lambda path: not path.name.endswith("-keys"))):
            shutil.move(path, folder / path.name)
    shutil.rmtree(checkpoints)
