"""Training: collapsed Gibbs sampling by tomotopy, with alpha optimised every 100 iterations (deng2022 Appendix C)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import tomotopy

from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.words import lower_case_words
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.progress import Progress
from macroscope.tables import write_csv

TOP_WORDS = 20
_OPTIMISED_EVERY = 100
_AT_ONCE = 20


def train(documents: Path, *, output: Path, options: LanguagesOptions, seed: int) -> None:
    """Fit a latent Dirichlet allocation to the train split.

    Writes into the folder `output`: model.npz; vocabulary.json (words); languages.csv (topic, share of all words,
    alpha, its 20 most probable words: deng2022 Table 10; where documents have labels, the one that most documents of
    the topic have); training.json (documents, documents_without_words, words, log_likelihood of a word, in nats).
    """
    texts = [(lower_case_words(d.text), d.label) for d in read_documents(documents, "train")]
    frequency = Counter(word for words, _ in texts for word in words)
    known = {word for word, count in frequency.items() if count >= options.least_frequency}
    kept = [(words, label) for words, label in texts if not known.isdisjoint(words)]
    if len(known) < options.languages:
        raise MacroscopeError(
            f"{documents}: {len(known)} words are left for {options.languages} languages; give more documents, or set"
            " critics.languages.least_frequency to less"
        )
    sampler = _sampler([words for words, _ in kept], options, seed)
    words = list(sampler.used_vocabs)
    topics = np.array([sampler.get_topic_word_dist(topic) for topic in range(options.languages)], dtype=float)
    model = LatentDirichletAllocation(np.array(sampler.alpha, dtype=float), topics / topics.sum(axis=1, keepdims=True))
    shares = np.array(sampler.get_count_by_topics(), dtype=float)
    table = language_table(model, words, shares / shares.sum())
    largest = [int(np.argmax(document.get_topic_dist())) for document in sampler.docs]
    about = {
        "documents": len(kept),
        "documents_without_words": len(texts) - len(kept),
        "words": len(words),
        "log_likelihood": float(sampler.ll_per_word),
    }
    with atomic(output) as folder:
        folder.mkdir()
        model.save(folder / "model.npz")
        write_json(folder / "vocabulary.json", {"words": words})
        write_csv(by_label(table, largest, [label for _, label in kept]), folder / "languages.csv")
        write_json(folder / "training.json", about)


def _sampler(texts: list[list[str]], options: LanguagesOptions, seed: int) -> tomotopy.LDAModel:
    """A model of tomotopy's, trained."""
    model = tomotopy.LDAModel(
        k=options.languages,
        alpha=1 / options.languages,
        eta=options.beta,
        min_cf=options.least_frequency,
        seed=seed % (1 << 32),
    )
    model.optim_interval = _OPTIMISED_EVERY
    for words in texts:
        model.add_doc(words)
    with Progress("languages, Gibbs sampling", options.iterations, "iterations") as progress:
        for start in range(0, options.iterations, _AT_ONCE):
            step = min(_AT_ONCE, options.iterations - start)
            model.train(step, workers=1)  # with more, the same seed gives another result
            progress.advance(step)
    return model


def language_table(model: LatentDirichletAllocation, words: list[str], shares: Array) -> pd.DataFrame:
    """Topics with their shares of all training words, alpha, and their 20 most probable words."""
    order = np.argsort(-model.topics, axis=1, kind="stable")[:, :TOP_WORDS]
    return pd.DataFrame(
        {
            "topic": range(len(model.alpha)),
            "share": shares,
            "alpha": model.alpha,
            "words": [" ".join(words[word] for word in some) for some in order],
        }
    )


def by_label(table: pd.DataFrame, largest: Sequence[int], labels: Sequence[str | None]) -> pd.DataFrame:
    """Add the most common label of the documents that are mostly of each topic, and its share of them.

    Where no document has a label the table stays as it is.
    """
    known = pd.DataFrame({"topic": largest, "label": labels}).dropna()
    if known.empty:
        return table
    shares = known.groupby("topic")["label"].value_counts(normalize=True)
    first = shares.reset_index(name="label_share").drop_duplicates("topic")
    return table.merge(first, on="topic", how="left")
