"""Training of the topic model, and what held-out documents say of it."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse

from macroscope.corpora.stop_words import stop_words
from macroscope.critics.topics.completion import completion_perplexity
from macroscope.critics.topics.fitting import Fit, Settings, fit
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import TOKENIZERS, Limits, Tokenize, vocabulary
from macroscope.critics.topics.word_counts import WordCounts, word_counts
from macroscope.documents import read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.progress import progress
from macroscope.tables import write_csv
from macroscope.training import discard

log = logging.getLogger("macroscope")
TOP_WORDS = 10


def train(documents: Path, *, output: Path, options: TopicsOptions, seed: int, checkpoints: Path) -> None:
    """Fit a correlated topic model to the train split.

    Writes into the folder `output`: model.npz; vocabulary.json (words, most frequent first; how many were dropped, by
    reason); topics.csv (topic, share of the words, words, npmi); bounds.csv (iteration, bound); validation.json
    (documents, those without a word of the vocabulary, perplexity of held-out words given the others of their document,
    and that of a model without topics).
    """
    language = read_provenance(documents).options.get("language", "en")
    tokenize = TOKENIZERS[options.convention]
    limits = Limits(stop_words(language), options.most_documents, options.least_frequency)
    words, dropped = vocabulary(read_documents(documents, "train"), tokenize, limits)
    if len(words) < options.topics:
        raise MacroscopeError(
            f"{documents}: {len(words)} words are left for {options.topics} topics ({_reasons(dropped)}); give more"
            " documents, or set critics.topics.least_frequency or topics to fewer"
        )
    log.info("topic model: %d words, %s", len(words), _reasons(dropped))
    counts, empty = counted(documents, "train", words, tokenize)
    found = _best(counts, len(words), options, seed, checkpoints)
    held_out, without = counted(documents, "valid", words, tokenize)
    with atomic(output) as folder:
        folder.mkdir()
        found.model.save(folder / "model.npz")
        write_json(folder / "vocabulary.json", {"words": words, "dropped": dropped})
        write_csv(topic_table(found.model, words, counts), folder / "topics.csv")
        bounds = pd.DataFrame({"iteration": range(1, len(found.bounds) + 1), "bound": found.bounds})
        write_csv(bounds, folder / "bounds.csv")
        perplexity, of_words_alone = completion_perplexity(held_out, found.model, counts, seed)
        about = {
            "documents": len(counts),
            "documents_without_words": empty,
            "validation_documents": len(held_out),
            "validation_documents_without_words": without,
            "completion_perplexity": perplexity,
            "unigram_perplexity": of_words_alone,
            "dead_topics": found.dead,
        }
        write_json(folder / "validation.json", about)
    discard(checkpoints)


def counted(documents: Path, split: str, words: Sequence[str], tokenize: Tokenize) -> tuple[WordCounts, int]:
    """Documents of a split that have words of the vocabulary, and how many have none."""
    index = {word: number for number, word in enumerate(words)}
    shown = progress(read_documents(documents, split), f"count words, {split}", unit="documents")
    counts = word_counts((tokenize(document.text) for document in shown), index)
    return counts.with_words(), int((counts.totals == 0).sum())


def topic_table(model: CorrelatedTopicModel, words: Sequence[str], counts: WordCounts) -> pd.DataFrame:
    """Topics by their share of the words: topic, share, words (the ten most probable), npmi.

    npmi: mean over pairs of these words of the normalised pointwise mutual information of occurring in one training
    document, in [-1, 1]; 0 for words that have nothing to do with each other (Lau et al. 2014).
    """
    top = model.topics.topk(min(TOP_WORDS, len(words)), dim=1).indices.numpy()
    shares = _shares(model)
    rows = [
        (topic, float(share), " ".join(words[word] for word in some), npmi(some, counts))
        for topic, (share, some) in enumerate(zip(shares, top, strict=True))
    ]
    table = pd.DataFrame(rows, columns=["topic", "share", "words", "npmi"])
    return table.sort_values(["share", "topic"], ascending=[False, True], ignore_index=True)


def npmi(words: NDArray[np.integer], counts: WordCounts) -> float:
    """Mean normalised pointwise mutual information of pairs of words, in [-1, 1]; a pair that never meets has -1."""
    presence = sparse.csr_matrix(
        (np.ones(len(counts.types)), counts.types, counts.starts), shape=(len(counts), int(counts.types.max()) + 1)
    )[:, words]
    together = (presence.T @ presence).toarray() / len(counts)
    single = np.diag(together)
    first, second = np.triu_indices(len(words), 1)
    joint = together[first, second]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(joint / (single[first] * single[second])) / -np.log(joint)
    found = np.where(joint == 0, -1.0, np.where(joint == 1, 1.0, found))
    return float(found.mean()) if len(found) else float("nan")


def _shares(model: CorrelatedTopicModel) -> NDArray[np.float64]:
    """Share of the words of each topic, on average over documents of the prior."""
    rng = np.random.default_rng(0)
    points = rng.multivariate_normal(model.mean.numpy(), model.covariance.numpy(), 4000, method="cholesky")
    weights = torch.softmax(model.strengths(torch.from_numpy(points)), dim=1)
    return np.asarray(weights.mean(dim=0).numpy())


def _best(counts: WordCounts, words: int, options: TopicsOptions, seed: int, checkpoints: Path) -> Fit:
    """The fit with the largest bound."""
    settings = Settings(
        topics=options.topics,
        iterations=options.iterations,
        tolerance=options.tolerance,
        pinned=options.pinned,
        initialisation=options.initialisation,
        shrinkage=options.shrinkage,
        smoothing=options.smoothing,
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    fits = (fit(counts, words, settings, seed + n, checkpoints / str(n), device) for n in range(options.restarts))
    return max(fits, key=lambda found: found.bounds[-1])


def _reasons(dropped: dict[str, int]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in dropped.items())
