"""Detection of the languages of texts, offline, by the model of py3langid.

The model is a naive Bayes classifier of byte n-grams, which an automaton finds. The library walks through one text at a
time, a byte after the other; here many texts take each step together, with the same results in a tenth of the time.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any

import numpy as np

from macroscope.natural_language.languages import LANGUAGES

UNKNOWN = "?"
"""Result for texts that are clearly in no language of `LANGUAGES`."""
_CHARACTERS = 2000
"""Beginning of a text that is read: longer texts are hardly ever mistaken."""
_LEAST_PROBABILITY = 0.5
_FEW = 8
"""Number of texts up to which the library is faster."""
_BATCH = 128
_NONE = -1
"""Output of a state of the automaton that ends no feature."""


def detect_language(text: str) -> str:
    """Return the language of a text, one of `LANGUAGES`, or `UNKNOWN` if none has a probability of a half."""
    return next(detect_each([text]))


def detect_each(texts: Iterable[str]) -> Iterator[str]:
    """Yield the language of each text; see `detect_language`."""
    beginnings = map(_beginning, texts)
    while batch := list(islice(beginnings, _BATCH)):
        yield from chain(map(_classify, batch) if len(batch) <= _FEW else _classify_together(batch))


def main_language(languages: Counter[str]) -> str:
    """Return the language of more than half of the texts, or `UNKNOWN`.

    Parameters
    ----------
    languages
        Numbers of texts by language.
    """
    language, number = languages.most_common(1)[0] if languages else (UNKNOWN, 0)
    return language if 2 * number > languages.total() else UNKNOWN


def detect_languages(texts: Iterable[str]) -> Counter[str]:
    """Return the number of texts in each language."""
    return Counter(detect_each(texts))


def _beginning(text: str) -> str:
    """Return what of a text is evidence of its language; "" if it has no letters."""
    beginning = " ".join(dict.fromkeys(text[:_CHARACTERS].split()))  # a repeated word is no further evidence
    return beginning if any(map(str.isalpha, beginning)) else ""


def _classify(beginning: str) -> str:
    if not beginning:
        return UNKNOWN
    language, probability = _identifier().classify(beginning)
    return language if probability >= _LEAST_PROBABILITY else UNKNOWN


def _classify_together(beginnings: Sequence[str]) -> list[str]:
    """Return the languages of several texts; the sums are those of the library, in another order."""
    identifier = _identifier()
    encoded = [identifier._encode(beginning) for beginning in beginnings]
    counts, features = _count_features(encoded)
    scores = np.log1p(counts) @ identifier.nb_ptc[features].astype(np.float32) + identifier.nb_pc
    scores /= np.array([[math.sqrt(len(text) or 1)] for text in encoded], dtype=np.float32)
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for first, again in identifier._alias_pairs:
        probabilities[:, first] += probabilities[:, again]
        probabilities[:, again] = 0
    is_clear = (probabilities.max(axis=1) >= _LEAST_PROBABILITY) & counts.any(axis=1)
    best = zip(probabilities.argmax(axis=1), is_clear, strict=True)
    return [identifier.nb_classes[number] if clear else UNKNOWN for number, clear in best]


def _count_features(texts: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each feature that occurs is in each text (texts × features), and these features' numbers."""
    moves, rows, outputs = _automaton()
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))  # texts that end leave at the back
    lengths = np.array([len(texts[place]) for place in order])
    letters = np.zeros((lengths[0], len(texts)), dtype=np.uint8)
    for column, place in enumerate(order):
        letters[: lengths[column], column] = np.frombuffer(texts[place], dtype=np.uint8)
    visited = np.full(letters.shape, _NONE, dtype=np.int32)
    states = np.zeros(len(texts), dtype=np.int64)
    for step, number in enumerate(np.searchsorted(-lengths, -np.arange(lengths[0]), side="left")):
        states = moves[rows[states[:number]] + letters[step, :number]]
        visited[step, :number] = outputs[states]
    steps, columns = np.nonzero(visited != _NONE)
    features, places = np.unique(visited[steps, columns], return_inverse=True)
    flat = np.array(order)[columns] * len(features) + places
    counts = np.bincount(flat, minlength=len(texts) * len(features))
    return counts.reshape(len(texts), len(features)).astype(np.float32), features


@cache
def _automaton() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the model's automaton: next states by row and byte, the row of each state, its feature or `_NONE`."""
    identifier = _identifier()
    rows = np.array(identifier.tk_row, dtype=np.int64) << 8
    return np.asarray(identifier.tk_nextmove), rows, np.array(identifier.tk_output, dtype=np.int32)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # reads its model for a second

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(sorted(LANGUAGES))
    return identifier
