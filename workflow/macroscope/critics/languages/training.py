"""Training by collapsed Gibbs sampling with tomotopy; alpha is optimised every 100 iterations (deng2022 Appendix C)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import tomotopy

from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.natural_language.words import lower_case_words
from macroscope.progress import Progress
from macroscope.tables import write_csv

TOP_WORDS = 20
_OPTIMISED_EVERY = 100
_AT_ONCE = 20


def train(documents: Path, *, output: Path, options: LanguagesOptions, seed: int) -> None:
    """Fit a latent Dirichlet allocation to the train split.

    Writes into the folder `output`: model.npz; vocabulary.json (words); languages.csv (topic, share of all words,
    alpha, its 20 most probable words: deng2022 Table 10; if documents have labels, the most common label of the topic's
    documents); training.json (documents, documents_without_words, words, log_likelihood per word, in nats).

    Raises
    ------
    MacroscopeError
        If fewer words than languages are left.
    """
    texts = [(lower_case_words(d.text), d.label) for d in read_documents(documents, "train")]
    frequency = Counter(word for words, _ in texts for word in words)
    frequent = {word for word, count in frequency.items() if count >= options.least_frequency}
    kept = [(words, label) for words, label in texts if not frequent.isdisjoint(words)]
    if len(frequent) < options.languages:
        raise MacroscopeError(
            f"{documents}: {len(frequent)} words are left for {options.languages} languages; give more documents, or"
            " reduce critics.languages.least_frequency"
        )
    sampler = _train_model([words for words, _ in kept], options, seed)
    words = list(sampler.used_vocabs)
    topics = np.array([sampler.get_topic_word_dist(topic) for topic in range(options.languages)], dtype=float)
    model = LatentDirichletAllocation(np.array(sampler.alpha, dtype=float), topics / topics.sum(axis=1, keepdims=True))
    shares = np.array(sampler.get_count_by_topics(), dtype=float)
    table = tabulate_languages(model, words, shares / shares.sum())
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
        write_csv(add_labels(table, largest, [label for _, label in kept]), folder / "languages.csv")
        write_json(folder / "training.json", about)


def _train_model(texts: list[list[str]], options: LanguagesOptions, seed: int) -> tomotopy.LDAModel:
    """Train a model of tomotopy."""
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
            model.train(step, workers=1)  # results would depend on the number of workers
            progress.advance(step)
    return model


def tabulate_languages(model: LatentDirichletAllocation, words: list[str], shares: Array) -> pd.DataFrame:
    """Tabulate topics with their shares of all training words, alpha, and their 20 most probable words."""
    order = np.argsort(-model.topics, axis=1, kind="stable")[:, :TOP_WORDS]
    return pd.DataFrame(
        {
            "topic": range(len(model.alpha)),
            "share": shares,
            "alpha": model.alpha,
            "words": [" ".join(words[word] for word in top_words) for top_words in order],
        }
    )


def add_labels(table: pd.DataFrame, largest: Sequence[int], labels: Sequence[str | None]) -> pd.DataFrame:
    """Add the most common label of the documents with each topic as their largest one, and its share of them.

    If no document has a label, the table is returned unchanged.
    """
    labelled = pd.DataFrame({"topic": largest, "label": labels}).dropna()
    if labelled.empty:
        return table
    shares = labelled.groupby("topic")["label"].value_counts(normalize=True)
    first = shares.reset_index(name="label_share").drop_duplicates("topic")
    return table.merge(first, on="topic", how="left")
