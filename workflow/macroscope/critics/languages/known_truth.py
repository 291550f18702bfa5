"""Known truth of the critic `languages`: theoretical latent PPL of the systems of a simulated corpus.

If the language of every word is known, the posterior of a text's proportions is Dirichlet(alpha + its word counts), and
T(x) has a closed form. It is averaged over texts of the system.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma

from macroscope.corpora.simulated.languages import languages, simulate_texts
from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.files import read_json, write_json
from macroscope.natural_language.words import lower_case_words

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
