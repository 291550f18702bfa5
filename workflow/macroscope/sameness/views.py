"""Views of texts: feature vectors whose inner product is a similarity in [0, 1].

A view is a set of names, whose similarity is the share of names in common (cosine), a distribution over classes,
whose similarity is the Bhattacharyya coefficient, or an encoder's vector. All texts are cut to one number of words
before, since the similarity of longer texts would be larger.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray
from scipy import sparse

from macroscope.critics.narratives import LIST_MARK
from macroscope.natural_language.languages import LANGUAGES
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import count_words, has_stop_words, lower_case_words, stop_words
from macroscope.sameness.texts import Line, Texts, cut_lines

Features = Mapping[Hashable, float]
Row = tuple[NDArray[np.int32], NDArray[np.float64]]
"""Numbers of the features of a text, and their values."""
OPENING_WORDS = 5
"""Number of first words that the view `openings` compares."""
_SENTENCES = (3, 6, 9, 12, 16, 20, 25, 32)
_PARAGRAPHS = (10, 20, 40, 60, 80, 120)
"""Largest number of words of each class of lengths; the last class is open."""
_SHORT, _MEDIUM = 8, 18
"""Largest number of words of a short and of a medium sentence, for pairs of successive sentences."""
_MARKS = regex.compile(r"[\p{P}\p{S}]")
_MARK_CLASSES = {
    mark: name
    for name, marks in {
        "full stop": ".。．｡।",
        "comma": ",，、､،",
        "question": "?？؟",
        "exclamation": "!！",
        "colon": ":：",
        "semicolon": ";；؛",
        "dash": "-–—―",
        "ellipsis": "…",
        "quotation": '"“”„«»「」『』‘',
        "bracket": "()[]{}（）【】",
        "asterisk": "*_#",
    }.items()
    for mark in marks
}
_DIALOGUE = regex.compile(r"\s*[\"“„«「『‘—–]")
_NAME = regex.compile(r"(?<=[\p{Ll}\p{N},;] )\p{Lu}\p{Ll}[\p{L}\p{M}]*")


@dataclass(frozen=True)
class Beginning:
    """The beginning of a text: its lines, and all words in them in lower case."""

    lines: Sequence[Line]
    words: Sequence[str]
    language: str

    def paragraphs(self) -> list[str]:
        return [line.text for line in self.lines if not line.is_heading]

    def sentences(self) -> list[str]:
        """Return the sentences of the paragraphs."""
        return [s for text in self.paragraphs() for s in split_sentences(text, self.language)]


@dataclass(frozen=True)
class View:
    """A view of texts.

    Attributes
    ----------
    name
        Name in tables.
    compares
        Features that it compares, as a phrase.
    features
        Function that returns the features of a beginning; None: it is of the vectors of an encoder.
    fits
        Whether a language has the view.
    """

    name: str
    compares: str
    features: Callable[[Beginning], Features] | None
    fits: Callable[[str], bool] = lambda language: True


def compare_structure(text: Beginning) -> Features:
    """Return five distributions that know no words, each with the same weight."""
    lengths = [n for n in map(count_words, text.sentences()) if n]
    parts: dict[str, list[Hashable]] = {
        "sentence": [_class_of(n, _SENTENCES) for n in lengths],
        "succession": list(pairwise(_class_of(n, (_SHORT, _MEDIUM)) for n in lengths)),
        "paragraph": [_class_of(count_words(paragraph), _PARAGRAPHS) for paragraph in text.paragraphs()],
        "mark": [_MARK_CLASSES.get(mark, "other") for line in text.lines for mark in _MARKS.findall(line.text)],
        "line": [_kind_of(line) for line in text.lines],
    }
    return {
        (part, name): value / np.sqrt(len(parts))
        for part, names in parts.items()
        for name, value in _distribution(names).items()
    }


def compare_function_words(text: Beginning) -> Features:
    """Return the distribution of stop words."""
    listed = stop_words(text.language)
    return _distribution(word for word in text.words if word in listed)


def compare_vocabulary(text: Beginning) -> Features:
    """Return the distribution of all other words."""
    listed = stop_words(text.language)
    return _distribution(word for word in text.words if word not in listed)


def compare_wording(text: Beginning) -> Features:
    return _set(pairwise(text.words))


def compare_openings(text: Beginning) -> Features:
    """Return the first word, the first two, and so on; two texts share as many as they have first words in common."""
    return {tuple(text.words[: n + 1]): np.sqrt(1 / OPENING_WORDS) for n in range(min(OPENING_WORDS, len(text.words)))}


def compare_names(text: Beginning) -> Features:
    """Return the set of words with a capital letter inside a sentence: names, above all."""
    listed = stop_words(text.language)
    names = (name for paragraph in text.paragraphs() for name in _NAME.findall(paragraph))
    return _set(name for name in names if name.lower() not in listed)


def _has_names(language: str) -> bool:
    """Return whether capital letters inside sentences are those of names; in German, they are those of all nouns."""
    return language in LANGUAGES and LANGUAGES[language].has_capitals and language != "de"


VIEWS = (
    View(
        "structure",
        "lengths of sentences and paragraphs, the succession of long and short sentences, punctuation, headings,"
        " dialogue and lists; no words",
        compare_structure,
    ),
    View("function_words", "how often each stop word occurs", compare_function_words, has_stop_words),
    View("vocabulary", "how often each other word occurs", compare_vocabulary, has_stop_words),
    View("wording", "pairs of successive words", compare_wording),
    View("openings", f"the first {OPENING_WORDS} words", compare_openings),
    View("names", "words with a capital letter inside a sentence", compare_names, _has_names),
)
MEANING = View("meaning", "the vector of the text by an encoder: (1 + cosine) / 2", None)


def choose_views(language: str) -> list[View]:
    return [view for view in VIEWS if view.fits(language)]


def make_vectors(
    collections: Sequence[Texts], views: Sequence[View], words: int, language: str
) -> dict[str, list[sparse.csr_matrix]]:
    """Make the vectors of the beginnings of all texts: view -> a matrix per collection, all of the same features."""
    numbers: dict[str, dict[Hashable, int]] = {view.name: {} for view in views}
    rows: dict[str, list[list[Row]]] = {view.name: [] for view in views}
    for texts in collections:
        for view in views:
            rows[view.name].append([])
        for document in texts.documents:
            lines = cut_lines(document, words)
            beginning = Beginning(
                lines, [w for line in lines if not line.is_heading for w in lower_case_words(line.text)], language
            )
            for view in views:
                features = view.features(beginning) if view.features else {}
                rows[view.name][-1].append(_number_features(features, numbers[view.name]))
    return {name: [_matrix(each, max(1, len(numbers[name]))) for each in matrices] for name, matrices in rows.items()}


def as_features(vectors: NDArray[np.float32]) -> sparse.csr_matrix:
    """Return features of the view `MEANING` of vectors of length 1, such that no similarity is negative."""
    return sparse.csr_matrix(np.hstack([np.ones((len(vectors), 1)), vectors.astype(float)]) / np.sqrt(2))


def _number_features(features: Features, numbers: dict[Hashable, int]) -> Row:
    columns = np.array([numbers.setdefault(name, len(numbers)) for name in features], dtype=np.int32)
    return columns, np.array([*features.values()], dtype=float)


def _matrix(rows: Sequence[Row], width: int) -> sparse.csr_matrix:
    columns, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    return sparse.csr_matrix((values, columns, ends), (len(rows), width))


def _distribution(names: Iterable[Hashable]) -> dict[Hashable, float]:
    """Return the square roots of the shares of names."""
    counts = Counter(names)
    total = counts.total()
    return {name: float(np.sqrt(count / total)) for name, count in counts.items()}


def _set(names: Iterable[Hashable]) -> dict[Hashable, float]:
    members = dict.fromkeys(names)
    return dict.fromkeys(members, float(1 / np.sqrt(len(members)))) if members else {}


def _class_of(number: int, largest: Sequence[int]) -> int:
    return int(np.searchsorted(largest, number))


def _kind_of(line: Line) -> str:
    if line.is_heading:
        return "heading"
    if LIST_MARK.match(line.text):
        return "list item"
    return "dialogue" if _DIALOGUE.match(line.text) else "paragraph"
