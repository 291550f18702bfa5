"""Scores of the critic `languages`: latent NLL under Dirichlet(alpha) (deng2022 Appendix C), and its known truth."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma

from macroscope.corpora.simulated.languages import languages, simulate_texts
from macroscope.critics.attributions import Attribution, Span, read_latent_nlls, write_attributions
from macroscope.critics.languages.latents import read_proportions
from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.topic_shares import read_vocabulary
from macroscope.documents import Collection, Document
from macroscope.files import atomic, read_json, write_json
from macroscope.natural_language.words import locate_words, lower_case_words


def score(latents: Path, inference: Path, *, options: LanguagesOptions, output: Path) -> None:
    """Score latents under the Dirichlet distribution of the model.

    Writes id, opening, words, and, NaN for a document without words of the vocabulary:
    nll
        T(x) = -E log Dirichlet(z; alpha) over the posterior, in nats; of a density, so it may be negative.
    nll_sample
        -log Dirichlet(z; alpha) at the sample of z in the latents.
    entropy
        NaN: the entropy of the posterior has no closed form, and samples do not estimate it.
    units
        Number of dimensions of the proportions, topics - 1.
    count_mixed, of_mixed
        Whether the document is a mix of languages (largest expected share below `mixed_below`), and the constant 1.
    """
    model, proportions = LatentDirichletAllocation.load(inference / "model.npz"), read_proportions(latents)
    has_words = proportions.words > 0
    scores = proportions.keys.assign(
        words=proportions.words,
        nll=model.cross_entropy(proportions.log_mean),
        nll_sample=model.cross_entropy(proportions.log_sample),
        entropy=np.nan,
        units=len(model.alpha) - 1,
        count_mixed=np.where(has_words, proportions.mean.max(axis=1) < options.mixed_below, np.nan),
        of_mixed=np.where(has_words, 1.0, np.nan),
    )
    with atomic(output) as temporary:
        pd.DataFrame(scores).to_parquet(temporary, index=False)


# ---- attribution -----------------------------------------------------------------------------------------------------
# Attribution of `languages`: the words of a document in another language than most of it.

MIN_PROBABILITY = 0.5
"""Probability of another language than the document's main one, above which a word is marked."""


def attribute(texts: Collection, latents: Path, scores: Path, inference: Path, *, output: Path) -> None:
    """Score documents by T(x), and mark words outside of their main language; see `critics.attributions`."""
    model = LatentDirichletAllocation.load(inference / "model.npz")
    index = read_vocabulary(inference)
    proportions, nats = read_proportions(latents).mean, read_latent_nlls(scores)
    rows = (
        Attribution(document.id, nats[document.id], list(mark_words(document, shares, index, model)))
        for document, shares in zip(texts, proportions, strict=True)
    )
    write_attributions(rows, output)


def mark_words(
    document: Document, proportions: Array, index: dict[str, int], model: LatentDirichletAllocation
) -> Iterator[tuple[Span, float, str]]:
    """Yield words that are probably not in the document's main language, with this probability as the weight.

    Under the document's expected proportions z, word w is in language k with probability z_k phi_kw / sum_j z_j phi_jw.
    """
    if np.isnan(proportions).any():
        return
    main = int(np.argmax(proportions))
    for number, section in enumerate(document.sections):
        for start, end, word in locate_words(section.text):
            if word in index:
                joint = proportions * model.topics[:, index[word]]
                probability = float(1 - joint[main] / joint.sum())
                if probability > MIN_PROBABILITY:
                    note = f"probability {probability:.0%} of another language than most words"
                    yield (number, start, end), probability, note


# ---- known truth -----------------------------------------------------------------------------------------------------
# Known truth of the critic `languages`: theoretical latent PPL of the systems of a simulated corpus.
#
# If the language of every word is known, the posterior of a text's proportions is Dirichlet(alpha + its word counts),
# and T(x) has a closed form. It is averaged over texts of the system.

TEXTS, SEED = 4000, 0x7E


def write_known_truth(inference: Path, *, order: str, output: Path) -> None:
    """Write the theoretical latent PPL of a system of this order, and its definition.

    Parameters
    ----------
    inference
        Folder of the model.
    order
        Order of the system: "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.languages`.
    output
        Path of a JSON file: latent_ppl, under the fitted Dirichlet distribution, null if the number of topics is not
        the number of languages; and basis, its definition in words.
    """
    model = LatentDirichletAllocation.load(inference / "model.npz")
    words = read_json(inference / "vocabulary.json")["words"]
    value = float("nan")
    if len(model.alpha) == len(languages()):
        topics = match_languages(model, words)
        fitted = LatentDirichletAllocation(model.alpha[topics], model.topics[topics])
        nll = fitted.cross_entropy(_log_proportions(fitted.alpha, order, set(words)))
        value = float(np.exp(nll.mean() / (len(model.alpha) - 1)))
    write_json(output, {"latent_ppl": value, "basis": "as if the language of every word were known"})


def match_languages(model: LatentDirichletAllocation, words: list[str]) -> list[int]:
    """Match each language to the topic with most of its words."""
    is_word = np.array([[word in language.words() for word in words] for language in languages()], dtype=float)
    return [int(topic) for topic in linear_sum_assignment(-is_word @ model.topics.T)[1]]


def _log_proportions(alpha: Array, order: str, vocabulary: set[str]) -> Array:
    """Return E log z of simulated texts whose words have known languages (texts x languages)."""
    words_by_language = [language.words() for language in languages()]
    counts = np.array(
        [
            [sum(word in of_language for word in words) for of_language in words_by_language]
            for document in simulate_texts(order, TEXTS, SEED)
            for words in [[word for word in lower_case_words(document.text) if word in vocabulary]]
        ]
    )
    shapes = alpha + counts
    return np.asarray(digamma(shapes) - digamma(shapes.sum(axis=1, keepdims=True)))
