"""What theory gives for the systems of a simulated corpus whose languages are known.

Were the language of every word known, the proportions of a text would be Dirichlet(alpha + its numbers of words), and
T(x) a closed form. It is averaged over texts of the system.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma

from macroscope.corpora.simulated.languages import languages, simulate_texts
from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.critics.words import lower_case_words
from macroscope.files import read_json, write_json

DRAWS, SEED = 4000, 0x7E


def write_known_truth(inference: Path, *, order: str, output: Path) -> None:
    """Write what theory gives for a system of this order: latent_ppl, and what that is.

    Parameters
    ----------
    inference
        Folder of the model.
    order
        "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.languages`.
    output
        JSON: latent_ppl, under the fitted Dirichlet distribution, and basis; null with another number of topics than
        languages.
    """
    model = LatentDirichletAllocation.load(inference / "model.npz")
    words = read_json(inference / "vocabulary.json")["words"]
    value = float("nan")
    if len(model.alpha) == len(languages()):
        topics = matched(model, words)
        fitted = LatentDirichletAllocation(model.alpha[topics], model.topics[topics])
        nll = fitted.cross_entropy(_log_proportions(fitted.alpha, order, set(words)))
        value = float(np.exp(nll.mean() / (len(model.alpha) - 1)))
    write_json(output, {"latent_ppl": value, "basis": "as if the language of every word were known"})


def matched(model: LatentDirichletAllocation, words: list[str]) -> list[int]:
    """Topic that has most of the words of each language."""
    theirs = np.array([[word in language.words() for word in words] for language in languages()], dtype=float)
    return [int(topic) for topic in linear_sum_assignment(-theirs @ model.topics.T)[1]]


def _log_proportions(alpha: Array, order: str, known: set[str]) -> Array:
    """E log z of drawn texts whose words have known languages: texts x languages."""
    own = [language.words() for language in languages()]
    counts = np.array(
        [
            [sum(word in some for word in words) for some in own]
            for document in simulate_texts(order, DRAWS, SEED)
            for words in [[word for word in lower_case_words(document.text) if word in known]]
        ]
    )
    shapes = alpha + counts
    return np.asarray(digamma(shapes) - digamma(shapes.sum(axis=1, keepdims=True)))
