"""Texts of a known correlated topic model (deng2022 §6), as WebText.

A text has topic strengths eta from N(mu, Sigma). The topic of each content word is sampled from softmax(eta), and the
word from that topic's words. Stop words between the content words give the form of sentences.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.texts import require_order, write_simulation
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, read_json

NAME = "simtopics"
Array = NDArray[np.float64]
_SHORTEST, _MEAN_LENGTH = 100, 300
_SENTENCE = (5, 11)
_BETWEEN = ("the", "of the", "and the", "in a", "with", "for the", "to", "from the", "is a", "by the")


class TopicProcess:
    """Normal distribution of topic strengths, and topics as distributions over words.

    Attributes
    ----------
    names, words
        Names of the K topics, and all words in alphabetical order.
    mean, covariance
        mu, shape (K,), and Sigma, shape (K, K).
    topics
        Word distributions of the topics, shape (K, words); rows sum to 1.

    Raises
    ------
    MacroscopeError
        If the covariance is not positive definite.
    """

    def __init__(self, names: Sequence[str], words: Sequence[str], mean: Any, covariance: Any, topics: Any) -> None:
        self.names, self.words = tuple(names), tuple(words)
        self.mean, self.covariance, self.topics = (np.array(part, dtype=float) for part in (mean, covariance, topics))
        if np.linalg.eigvalsh(self.covariance).min() <= 0:
            raise MacroscopeError(
                "a topic process needs correlations that are possible together (a positive definite matrix)"
            )

    @classmethod
    def load(cls, path: Path) -> "TopicProcess":
        """Read what `to_json` describes from a JSON file."""
        raw = read_json(path)
        return cls(*(raw[name] for name in ("names", "words", "mean", "covariance", "topics")))

    def to_json(self) -> dict[str, object]:
        """Describe the process, for `truth/process.json`."""
        parts = {name: getattr(self, name).tolist() for name in ("mean", "covariance", "topics")}
        return {"names": list(self.names), "words": list(self.words), **parts}

    def covariance_of(self, order: str) -> Array:
        """Return the covariance of the strengths under an order."""
        return np.diag(np.diag(self.covariance)) if order == "independent" else self.covariance

    def sample_strengths(self, order: str, rng: np.random.Generator) -> Array:
        """Sample the strengths of one text, shape (K,)."""
        return rng.multivariate_normal(self.mean, self.covariance_of(order), method="cholesky")

    def sample_words(self, strengths: Array, rng: np.random.Generator) -> list[str]:
        """Sample the content words of a text: at least 100, 300 on average."""
        length = _SHORTEST + rng.poisson(rng.exponential(_MEAN_LENGTH - _SHORTEST))
        weights = np.exp(strengths - strengths.max())
        topics = rng.choice(len(weights), length, p=weights / weights.sum())
        places = (self._cumulative[topics] < rng.random(length)[:, None]).sum(axis=1)
        return [self.words[place] for place in places]

    @cached_property
    def _cumulative(self) -> Array:
        sums = self.topics.cumsum(axis=1)
        return np.where(sums >= sums[:, -1:], 1.0, sums)


def topic_process() -> TopicProcess:
    """Read the process of resources/simulated_topics.yaml, with 8 topics."""
    raw = yaml.safe_load((RESOURCES / "simulated_topics.yaml").read_text(encoding="utf-8"))
    names = list(raw["topics"])
    words = sorted({word for topic in raw["topics"].values() for word in topic["words"]})
    index = {word: number for number, word in enumerate(words)}
    topics = np.zeros((len(names), len(words)))
    for row, topic in zip(topics, raw["topics"].values(), strict=True):
        row[[index[word] for word in topic["words"]]] = 1 / np.arange(1, len(topic["words"]) + 1)
    correlation = np.eye(len(names))
    for first, second, value in raw["correlations"]:
        i, j = names.index(first), names.index(second)
        correlation[i, j] = correlation[j, i] = value
    mean = [topic["mean"] for topic in raw["topics"].values()]
    return TopicProcess(
        names, words, mean, raw["deviation"] ** 2 * correlation, topics / topics.sum(axis=1, keepdims=True)
    )


def simulate_texts(process: TopicProcess, order: str, n: int, seed: int) -> Iterator[tuple[Document, Array]]:
    """Generate texts, each labelled with its strongest topic, and their topic strengths.

    Parameters
    ----------
    order
        "process": texts of the process. "shuffled": the same texts with their content words in random order, which a
        topic model cannot detect. "independent": uncorrelated strengths, with the same means and variances.
    n
        Number of texts. The first texts are the same whatever `n` is.
    seed
        Random seed; the same seed gives the same texts.

    Returns
    -------
    iterator of (Document, array)
        Texts in the split "test", with ids "simulated-<number>"; their strengths, shape (K,).
    """
    require_order(order)
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        strengths = process.sample_strengths(order, rng)
        words = process.sample_words(strengths, rng)
        if order == "shuffled":
            words = [words[place] for place in rng.permutation(len(words))]
        text = " ".join(_sentences(words, rng))
        label = process.names[int(strengths.argmax())]
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, text),), label=label), strengths


def generate(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts of the process in a file; see `simulate_texts`."""
    return (document for document, _ in simulate_texts(TopicProcess.load(process), order, n, seed))


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write texts, and the truth about them; see `texts.write_simulation`."""
    process = topic_process()
    texts = (document for document, _ in simulate_texts(process, "process", options.documents, seed))
    write_simulation(process.to_json(), texts, options, seed, raw, truth, NAME)


def _sentences(words: Sequence[str], rng: np.random.Generator) -> Iterator[str]:
    """Form sentences of content words, with stop words between them."""
    start = 0
    while start < len(words):
        chunk = words[start : start + int(rng.integers(*_SENTENCE))]
        start += len(chunk)
        between = rng.integers(len(_BETWEEN), size=len(chunk))
        joined = " ".join(f"{_BETWEEN[place]} {word}" for place, word in zip(between, chunk, strict=True))
        yield joined[0].upper() + joined[1:] + "."
