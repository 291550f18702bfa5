"""Comparisons at matched length: real text that is cut at random, and damages that keep length.

Documents have one of two genres, by which their words and their lengths differ, so that content goes with length. The
features are those that critics have of a document: its numbers (`tendencies`), its words (`strings`), its section types
(`coherence`), and its topic shares, which are nearer to the mean in short texts (`topics`). Cuts are those of
`systems.length_matching`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.systems.length_matching import count_kept, match_lengths

from .setting import Run, Setting

TYPES, STOP_WORDS, SECTION_TYPES = 300, 25, 6
GENRES = 2
_LAW = 1 / np.arange(2, TYPES + 2)
_TILT = np.random.default_rng(0).gamma(3.0, 1 / 3, (GENRES, TYPES))
LAWS = _LAW * _TILT / (_LAW * _TILT).sum(axis=1, keepdims=True)
"""Share of each word in each genre."""
TRANSITIONS = np.random.default_rng(1).dirichlet(np.full(SECTION_TYPES, 0.4), SECTION_TYPES)
"""Probability of the next section's type."""


@dataclass(frozen=True)
class Text:
    """Document of sentences and sections.

    Attributes
    ----------
    words
        Number of the type of each word.
    ends
        Number of words up to the end of each sentence.
    sections, starts
        Type of each section, and number of its first sentence.
    """

    words: np.ndarray
    ends: np.ndarray
    sections: np.ndarray
    starts: np.ndarray

    def first(self, sentences: int) -> "Text":
        """Return the document without the sentences after the first ones."""
        ends, is_kept = self.ends[:sentences], self.starts < sentences
        return Text(self.words[: ends[-1]], ends, self.sections[is_kept], self.starts[is_kept])

    def cut(self, words: float) -> "Text":
        """Return the document, cut after a sentence."""
        return self.first(count_kept(self.ends, int(words)))

    @cached_property
    def length(self) -> int:
        """Return the number of words."""
        return int(self.ends[-1])


def sample_text(rng: np.random.Generator) -> Text:
    """Sample a document of a random genre; those of the second genre are twice as long."""
    genre = int(rng.integers(GENRES))
    sentences = 6 + int(rng.gamma(3.0, 4.0 * (1 + genre)))
    ends = np.cumsum(rng.integers(5, 16, sentences))
    law = LAWS[genre] * rng.gamma(1.0, 1.0, TYPES)
    starts = np.arange(0, sentences, 4)
    sections = np.zeros(len(starts), dtype=int)
    for number in range(1, len(starts)):
        sections[number] = rng.choice(SECTION_TYPES, p=TRANSITIONS[sections[number - 1]])
    return Text(rng.choice(TYPES, int(ends[-1]), p=law / law.sum()), ends, sections, starts)


# ---- features of documents -----------------------------------------------------------------------------------------


def numbers_of(text: Text) -> tuple[list[float], list[str]]:
    """Return numbers of words, types, pairs of words and stop words, and the share of sentence ends."""
    pairs = len(np.unique(text.words[1:] * TYPES + text.words[:-1]))
    stop_words = (text.words < STOP_WORDS).mean()
    return [text.length, len(np.unique(text.words)), pairs, stop_words, len(text.ends) / text.length], []


def words_of(text: Text) -> tuple[list[float], list[str]]:
    """Return the number of words, and the words."""
    return [text.length], [str(word) for word in text.words]


def sections_of(text: Text) -> tuple[list[float], list[str]]:
    """Return the number of sections, their likelihood under the process, and their transitions."""
    steps = list(zip(text.sections[:-1], text.sections[1:], strict=True))
    nll = -sum(np.log(TRANSITIONS[step]) for step in steps)
    return [len(text.sections), nll / len(text.sections)], [*(f"{a} {b}" for a, b in steps), f"{text.sections[-1]} end"]


def topics_of(text: Text) -> tuple[list[float], list[str]]:
    """Return the log odds of the genre, nearer to 0 for short texts, and the number of words."""
    strength = np.log(LAWS[1] / LAWS[0])[text.words].sum()
    return [strength / (text.length + 50.0), text.length], []


# ---- damages that keep length --------------------------------------------------------------------------------------


def repeat_words(text: Text, rng: np.random.Generator) -> Text:
    """Replace 15 % of the words by the word four places before."""
    places = 4 + np.flatnonzero(rng.random(len(text.words) - 4) < 0.15)
    words = text.words.copy()
    words[places] = words[places - 4]
    return Text(words, text.ends, text.sections, text.starts)


def replace_words(text: Text, rng: np.random.Generator) -> Text:
    """Replace 15 % of the words by those of another law."""
    is_replaced = rng.random(len(text.words)) < 0.15
    return Text(
        np.where(is_replaced, rng.integers(TYPES, size=len(text.words)), text.words),
        text.ends,
        text.sections,
        text.starts,
    )


def shuffle_sections(text: Text, rng: np.random.Generator) -> Text:
    """Put the types of the sections in random order."""
    return Text(text.words, text.ends, rng.permutation(text.sections), text.starts)


def shift_topics(text: Text, rng: np.random.Generator) -> Text:
    """Replace 30 % of the words by those of the second genre."""
    is_replaced = rng.random(len(text.words)) < 0.3
    drawn = rng.choice(TYPES, len(text.words), p=LAWS[1])
    return Text(np.where(is_replaced, drawn, text.words), text.ends, text.sections, text.starts)


# ---- settings ------------------------------------------------------------------------------------------------------

Features = Callable[[Text], tuple[list[float], list[str]]]
Damage = Callable[[Text, np.random.Generator], Text]


def simulate(rng: np.random.Generator, n: int, features: Features, matched: bool, damage: Damage | None = None) -> Run:
    """Compare n documents with n others, which are damaged, or cut to 30 to 100 % of their words."""
    first, second = ([sample_text(rng) for _ in range(n)] for _ in range(2))
    second = [text.cut(rng.uniform(0.3, 1) * text.length) if damage is None else damage(text, rng) for text in second]
    if matched:
        lengths = [np.array([text.length for text in texts]) for texts in (first, second)]
        targets = match_lengths(*lengths, (np.arange(n), n + np.arange(n)), int(rng.integers(1 << 30)))
        first, second = (
            [text.cut(target) for text, target in zip(texts, targets_of_texts, strict=True)]
            for texts, targets_of_texts in zip((first, second), targets, strict=True)
        )
    samples = [_features(texts, features, prefix) for texts, prefix in ((first, "a"), (second, "b"))]
    estimates = two_sample_test(*samples, confidence=0.95, seed=int(rng.integers(1 << 30)))
    return [estimate for estimate in estimates if estimate.statistic == C2ST_AUC], {}


def _features(texts: Sequence[Text], features: Features, prefix: str) -> DocumentFeatures:
    numbers, bags = zip(*map(features, texts), strict=True)
    keys = pd.DataFrame({"id": [f"{prefix}{number}" for number in range(len(texts))]})
    return DocumentFeatures(keys, np.array(numbers, dtype=float), (bags,) if any(bags) else ())


CRITICS: dict[str, tuple[Features, Damage]] = {
    "numbers": (numbers_of, repeat_words),
    "words": (words_of, replace_words),
    "section types": (sections_of, shuffle_sections),
    "topic shares": (topics_of, shift_topics),
}
N = 60
RUNS = {"numbers": 1000, "words": 250, "section types": 250, "topic shares": 1000}
"""Runs of the null; classifiers of words and transitions take three times as long."""
POWER = {"numbers": 0.55, "words": 0.5, "section types": 0.95, "topic shares": 0.55}
"""Smallest power of the test as the documents are, for damages that keep length."""
KEPT = 0.95
"""Smallest share of that power at matched length."""


def _settings(critic: str) -> list[Setting]:
    features, damage = CRITICS[critic]
    compare = partial(simulate, n=N, features=features)
    name, auc = f"matched length, {critic}, {N} against {N}", C2ST_AUC
    power = POWER[critic]
    return [
        Setting(f"{name}: cut at random", partial(compare, matched=True), (auc,), runs=RUNS[critic]),
        Setting(f"{name}: cut at random, as it is", partial(compare, matched=False), power={auc: 0.8}, runs=100),
        Setting(f"{name}: damaged", partial(compare, matched=True, damage=damage), power={auc: KEPT * power}, runs=200),
        Setting(
            f"{name}: damaged, as it is", partial(compare, matched=False, damage=damage), power={auc: power}, runs=200
        ),
    ]


SETTINGS = tuple(setting for critic in CRITICS for setting in _settings(critic))
