"""Training of the topic model, and its evaluation on held-out documents."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse

from macroscope.critics.topics.fitting import Fit, Settings, fit
from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import (
    LATEX_DEBRIS,
    TOKENIZERS,
    Limits,
    Tokenize,
    WordCounts,
    build_vocabulary,
    count_words,
)
from macroscope.documents import read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.natural_language.words import stop_words
from macroscope.progress import progress
from macroscope.tables import write_csv
from macroscope.training import discard

log = logging.getLogger("macroscope")
TOP_WORDS = 10
WEIGHTS = (4.0, 1.0, 0.25, 0.0)
"""Weights of the covariance's prior to choose from, as multiples of the number of training documents."""
DEFAULT_WEIGHT = 1.0
"""Weight if no validation document can choose."""
INFERENCE = {"definition": Convergence(1e-6, 60), "published": Convergence(1e-6, 20, by_coordinates=True)}
"""Convention -> search of the E step (published: ctm-c's, with its settings)."""
_DOCUMENTS_PER_THREAD = 500


def train(documents: Path, *, output: Path, options: TopicsOptions, seed: int, checkpoints: Path) -> None:
    """Fit a correlated topic model to the train split.

    Writes into the folder `output`: model.npz; vocabulary.json (words, most frequent first; numbers of dropped words by
    reason); topics.csv (topic, share of the words, words, npmi); bounds.csv (iteration, bound); validation.json
    (numbers of documents with and without words of the vocabulary; perplexity of held-out words given the other words
    of their document; that of a model without topics; the weight of the covariance's prior, and the perplexities that
    chose it; topics without words).

    Raises
    ------
    MacroscopeError
        If fewer words than topics are left.
    """
    language = read_provenance(documents).options.get("language", "en")
    tokenize = TOKENIZERS[options.convention]
    limits = Limits(
        _excluded_words(options, language),
        LATEX_DEBRIS[options.convention],
        options.most_documents,
        options.least_frequency,
    )
    words, dropped = build_vocabulary(read_documents(documents, "train"), tokenize, limits)
    if len(words) < options.topics:
        raise MacroscopeError(
            f"{documents}: {len(words)} words are left for {options.topics} topics ({_reasons(dropped)}); give more"
            " documents, or reduce critics.topics.least_frequency or critics.topics.topics"
        )
    log.info("topic model: %d words, %s", len(words), _reasons(dropped))
    counts, empty = count_split(documents, "train", words, tokenize)
    held_out, without = count_split(documents, "valid", words, tokenize)
    torch.set_num_threads(threads_for(len(counts), torch.get_num_threads()))
    choice, tried = _fit_best(counts, held_out, len(words), options, seed, checkpoints)
    best = choice.fit
    with atomic(output) as folder:
        folder.mkdir()
        best.model.save(folder / "model.npz")
        write_json(folder / "vocabulary.json", {"words": words, "dropped": dropped})
        write_csv(tabulate_topics(best.model, words, counts), folder / "topics.csv")
        bounds = pd.DataFrame({"iteration": range(1, len(best.bounds) + 1), "bound": best.bounds})
        write_csv(bounds, folder / "bounds.csv")
        about = {
            "documents": len(counts),
            "documents_without_words": empty,
            "validation_documents": len(held_out),
            "validation_documents_without_words": without,
            "completion_perplexity": choice.perplexity,
            "unigram_perplexity": choice.unigram_perplexity,
            "covariance_prior": choice.weight,
            "perplexity_by_covariance_prior": tried,
            "dead_topics": best.dead,
        }
        write_json(folder / "validation.json", about)
    discard(checkpoints)


def _excluded_words(options: TopicsOptions, language: str) -> frozenset[str]:
    if options.stop_words == "none":
        return frozenset()
    return stop_words(language if options.stop_words == "language" else options.stop_words)


def threads_for(documents: int, available: int) -> int:
    """Return the number of threads to fit with: with few documents each, they wait longer than they compute.

    On a busy machine, 120 documents took 1.6 s of the processor with one thread, and 20 s with two.
    """
    return max(1, min(available, documents // _DOCUMENTS_PER_THREAD))


def count_split(documents: Path, split: str, words: Sequence[str], tokenize: Tokenize) -> tuple[WordCounts, int]:
    """Count the words of a split's documents; return the documents with words, and the number of those without."""
    index = {word: number for number, word in enumerate(words)}
    shown = progress(read_documents(documents, split), f"count words, {split}", unit="documents")
    counts = count_words((tokenize(document.text) for document in shown), index)
    return counts.with_words(), int((counts.totals == 0).sum())


def tabulate_topics(model: CorrelatedTopicModel, words: Sequence[str], counts: WordCounts) -> pd.DataFrame:
    """Tabulate topics by their share of the words: topic, share, words (the ten most probable), npmi.

    npmi is the normalised pointwise mutual information of occurring in one training document, averaged over pairs of
    these words, in [-1, 1]; 0 for independent words (Lau et al. 2014).
    """
    top = model.topics.topk(min(TOP_WORDS, len(words)), dim=1).indices.numpy()
    shares = _prior_shares(model)
    rows = [
        (topic, float(share), " ".join(words[word] for word in top_words), compute_npmi(top_words, counts))
        for topic, (share, top_words) in enumerate(zip(shares, top, strict=True))
    ]
    table = pd.DataFrame(rows, columns=["topic", "share", "words", "npmi"])
    return table.sort_values(["share", "topic"], ascending=[False, True], ignore_index=True)


def compute_npmi(words: NDArray[np.integer], counts: WordCounts) -> float:
    """Return the mean normalised pointwise mutual information of pairs of words, in [-1, 1].

    A pair that never occurs in one document has -1, a pair in all documents 1; NaN without pairs.
    """
    presence = sparse.csr_matrix(
        (np.ones(len(counts.types)), counts.types, counts.starts), shape=(len(counts), int(counts.types.max()) + 1)
    )[:, words]
    joint_shares = (presence.T @ presence).toarray() / len(counts)
    single = np.diag(joint_shares)
    first, second = np.triu_indices(len(words), 1)
    joint = joint_shares[first, second]
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / (single[first] * single[second])) / -np.log(joint)
    npmi = np.where(joint == 0, -1.0, np.where(joint == 1, 1.0, npmi))
    return float(npmi.mean()) if len(npmi) else float("nan")


def _prior_shares(model: CorrelatedTopicModel) -> NDArray[np.float64]:
    """Return each topic's share of the words, averaged over documents from the prior."""
    rng = np.random.default_rng(0)
    points = rng.multivariate_normal(model.mean.numpy(), model.covariance.numpy(), 4000, method="cholesky")
    weights = torch.softmax(model.strengths(torch.from_numpy(points)), dim=1)
    return np.asarray(weights.mean(dim=0).numpy())


@dataclass(frozen=True)
class _Choice:
    """A fit under a weight of the covariance's prior, and its perplexity on validation documents (NaN: unknown)."""

    fit: Fit
    weight: float
    perplexity: float
    unigram_perplexity: float

    def is_better_than(self, choice: "_Choice | None") -> bool:
        """Return whether it predicts words better; if no words can be predicted, whether its bound is larger."""
        if choice is None:
            return True
        if np.isnan(self.perplexity):
            return self.fit.bounds[-1] > choice.fit.bounds[-1]
        return self.perplexity < choice.perplexity


def _fit_best(
    counts: WordCounts, held_out: WordCounts, words: int, options: TopicsOptions, seed: int, checkpoints: Path
) -> tuple[_Choice, dict[str, float]]:
    """Fit the model with each restart and each weight of the prior; return the best fit, and the perplexities tried."""
    tried: dict[str, float] = {}
    best: _Choice | None = None
    for number in range(options.restarts):
        for choice in _fit_path(counts, held_out, words, options, seed + number, checkpoints / str(number)):
            weight = f"{choice.weight:g}"
            tried[weight] = float(np.fmin(choice.perplexity, tried.get(weight, np.nan)))
            best = choice if choice.is_better_than(best) else best
    assert best is not None
    return best, tried


def _fit_path(
    counts: WordCounts, held_out: WordCounts, words: int, options: TopicsOptions, seed: int, checkpoints: Path
) -> Iterator[_Choice]:
    """Yield fits with less and less weight of the prior, each from the one before, until predictions become worse."""
    weights = WEIGHTS if options.covariance_prior is None else (options.covariance_prior,)
    if options.covariance_prior is None and not len(held_out.with_words(2)):
        weights = (DEFAULT_WEIGHT,)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, before = None, float("inf")
    for weight in weights:
        settings = Settings(
            topics=options.topics,
            iterations=options.iterations,
            inference=INFERENCE[options.convention],
            tolerance=options.tolerance,
            pinned=options.pinned,
            initialisation=options.initialisation,
            covariance_prior=weight * len(counts),
            smoothing=options.smoothing,
        )
        fitted = fit(counts, words, settings, seed, checkpoints / f"{weight:g}", device, model)
        perplexity, unigram = completion_perplexity(held_out, fitted.model, counts, seed)
        log.info("topic model: prior of weight %g, perplexity of held-out words %.1f", weight, perplexity)
        yield _Choice(fitted, weight, perplexity, unigram)
        if not perplexity < before:
            return
        model, before = fitted.model, perplexity


def _reasons(dropped: dict[str, int]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in dropped.items())


CONVERGENCE = Convergence(1e-6, 500)
_SAMPLES = 200


def completion_perplexity(
    held_out: WordCounts, model: CorrelatedTopicModel, training: WordCounts, seed: int
) -> tuple[float, float]:
    """Compute the perplexity of half of each document's words given the other half, and the unigram perplexity.

    A word's probability is its expectation over the posterior from the other half, estimated from `_SAMPLES` samples.

    Returns
    -------
    perplexity, unigram
        Perplexities per word; the second under the words' shares in training documents. NaN if no document has two
        words.
    """
    rng = np.random.default_rng(seed)
    seen, unseen = held_out.with_words(2).split_words(rng)
    words = int(unseen.totals.sum())
    if not words:
        return float("nan"), float("nan")
    generator = torch.Generator().manual_seed(seed)
    total = 0.0
    for documents, posterior in infer_all(seen, model, CONVERGENCE):
        rest = unseen.batch(documents)
        likelihood = model.topics.T[rest.types]
        expected = torch.zeros_like(rest.counts)
        for _ in range(_SAMPLES):
            noise = torch.randn(posterior.mean.shape, generator=generator, dtype=posterior.mean.dtype)
            weights = torch.softmax(model.strengths(posterior.mean + posterior.variance.sqrt() * noise), dim=1)
            expected += (likelihood @ weights[:, :, None])[:, :, 0] / _SAMPLES
        logs = torch.where(rest.counts > 0, expected.log(), 0.0)
        total += float((rest.counts * logs).sum())
    size = model.topics.shape[1]
    shares = np.bincount(training.types, training.counts, size) + 1.0
    unigram = np.log(shares / shares.sum())[unseen.types] @ unseen.counts
    return float(np.exp(-total / words)), float(np.exp(-unigram / words))
