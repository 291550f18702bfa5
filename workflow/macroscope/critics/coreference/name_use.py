"""Use of names: the log odds that names of a text have changed places with each other.

A text whose names were exchanged keeps all words, and pronouns say little about it. But every name has its use: some
stand after prepositions ("in Kent"), others before verbs ("Anna said"); some occur often, others once; a person is
introduced by the full name and called by a short one later. A name in another name's place has the other's use.

Each mention is compared with the names mentioned before it: is its use like that of the same name before, more than
like that of the others? A logistic model without intercept weighs the mean features of a text. It was fitted to real
texts and copies of them whose last names have changed places (`tests/benchmarks/coreference/name_training.py`).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from macroscope.critics.coreference.rules.lexicon import (
    CONJUNCTION,
    DETERMINER,
    PREPOSITION,
    STOP,
    VERB,
    Words,
    load_lexicon,
    tokenize,
)
from macroscope.files import RESOURCES, read_json

WEIGHTS = RESOURCES / "name_weights.json"
FEATURES = ("count", "recency", "same_sentence", "before", "after", "new", "new_later", "new_is_long")
CANDIDATES = 40
"""Largest number of names, the latest ones, with which a mention is compared: time is linear in the mentions."""
FEWEST_KNOWN = 2
"""Fewest names before a mention that is judged."""
FEWEST_JUDGED = 3
_CONTEXTS = 6
"""Number of classes of the words around a name, for smoothing."""
_PRIOR = 2
"""Mentions that all contexts of a text count for, in the contexts of each name."""
_PLACES = frozenset(["at", "from", "in", "into", "near"])
"""Prepositions before places more often than before persons."""
_CALENDAR = frozenset(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NameMention:
    """A mention of a name.

    Attributes
    ----------
    words
        Words of the name.
    sentence
        Index of its sentence.
    before, after
        Classes of the words around it.
    """

    words: frozenset[str]
    sentence: int
    before: str
    after: str


@dataclass
class _Named:
    """A name with its mentions so far."""

    words: set[str]
    count: int = 0
    sentence: int = 0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)


def measure_name_mismatch(text: str) -> float:
    """Return the log odds that names of a text have changed places; NaN for texts with too few mentions of names."""
    features = describe_names(text)
    return float("nan") if features is None else -float(features @ load_weights())


@cache
def load_weights() -> Array:
    """Return the weights of `FEATURES`."""
    weights: Mapping[str, float] = read_json(WEIGHTS)["weights"]
    return np.array([weights[name] for name in FEATURES])


def describe_names(text: str) -> Array | None:
    """Compute the features of the names of a text; None for fewer than `FEWEST_JUDGED` mentions to judge.

    Returns
    -------
    array
        For mentions of known names, the mean of each difference between this name and those before it, which count by
        their numbers of mentions: logarithm of the number of mentions, logarithm of the distance in sentences, whether
        it is in the same sentence already, and log odds of the classes of the words before and after. Of all mentions:
        the share of new names, its covariance with the place in the text, and that with names of several words.
    """
    mentions = list(find_names(tokenize(text)))
    recent: dict[int, _Named] = {}  # the latest name last
    number_of: dict[str, int] = {}  # word -> the latest name with it
    all_before, all_after = Counter[str](), Counter[str]()
    rows_of_known, is_new, is_long = [], [], []
    for n, mention in enumerate(mentions):
        number = next(
            (number_of[word] for word in sorted(mention.words) if _is_one(mention, word, number_of, recent)), n
        )
        if len(recent) >= FEWEST_KNOWN:
            is_new.append(number not in recent)
            is_long.append(len(mention.words) > 1)
            candidates = dict(islice(reversed(recent.items()), CANDIDATES))
            if number in candidates:
                shares = (
                    (all_before[mention.before] + 1) / (n + _CONTEXTS),
                    (all_after[mention.after] + 1) / (n + _CONTEXTS),
                )
                rows = np.array([_relate(mention, each, *shares) for each in candidates.values()])
                counts = np.array([each.count for each in candidates.values()])
                at = list(candidates).index(number)
                rows_of_known.append(rows[at] - counts @ rows / counts.sum())
        named = recent.pop(number, None) or _Named(set())
        recent[number] = named
        named.words |= mention.words
        number_of |= dict.fromkeys(named.words, number)
        named.count, named.sentence = named.count + 1, mention.sentence
        for counter in (named.before, all_before):
            counter[mention.before] += 1
        for counter in (named.after, all_after):
            counter[mention.after] += 1
    if len(is_new) < FEWEST_JUDGED:
        return None
    new, long = np.array(is_new, dtype=float), np.array(is_long, dtype=float)
    place = np.linspace(-0.5, 0.5, len(new))
    means = np.mean(rows_of_known, axis=0) if rows_of_known else np.zeros(len(FEATURES) - 3)
    return np.array([*means, new.mean(), (new * place).mean(), (new * long).mean() - new.mean() * long.mean()])


def _is_one(mention: NameMention, word: str, number_of: Mapping[str, int], recent: Mapping[int, _Named]) -> bool:
    """Check that the latest name with a word is that of a mention: one of the two has all words of the other."""
    if word not in number_of:
        return False
    words = recent[number_of[word]].words
    return mention.words <= words or words <= mention.words


def _relate(mention: NameMention, named: _Named, share_before: float, share_after: float) -> list[float]:
    """Compute the features of a mention if it were one of this name; the shares are those of its contexts."""
    weight = named.count + _PRIOR
    return [
        math.log(named.count),
        math.log1p(mention.sentence - named.sentence),
        float(mention.sentence == named.sentence),
        math.log((named.before[mention.before] / share_before + _PRIOR) / weight),
        math.log((named.after[mention.after] / share_after + _PRIOR) / weight),
    ]


def find_names(text: Words) -> Iterator[NameMention]:
    """Find the names of a text: sequences of capitalised words that also occur capitalised inside a sentence."""
    words, opens = text.words, {*text.sentence_starts, len(text.words)}
    inside = {word for at, word in enumerate(words) if _can_be_name(word) and _is_inside(at, words, opens)}
    sentence, at = -1, 0
    while at < len(words):
        sentence += at in opens
        last = at + 1
        if words[at] in inside:
            while last not in opens and _can_be_name(words[last]):
                last += 1
            before = _classify_before(words[at - 1]) if _is_inside(at, words, opens) else ""
            after = "" if last in opens else _classify_after(words[last])
            yield NameMention(frozenset(words[at:last]), sentence, before, after)
        at = last


def _is_inside(at: int, words: Sequence[str], opens: set[int]) -> bool:
    """Check that a word follows another one of the same sentence, so that its capital is informative."""
    return at not in opens and words[at - 1][0].isalnum()


def _can_be_name(word: str) -> bool:
    lower = word.lower()
    return word[0].isupper() and word[-1] != "." and lower not in _CALENDAR and not _flags(lower) & STOP


def _flags(lower: str) -> int:
    return load_lexicon().flags.get(lower, 0)


def _classify_before(word: str) -> str:
    lower = word.lower()
    flags = _flags(lower)
    if flags & PREPOSITION:
        return "place" if lower in _PLACES else "preposition"
    return "determiner" if flags & DETERMINER else "conjunction" if flags & CONJUNCTION else "word"


def _classify_after(word: str) -> str:
    lower = word.lower()
    if lower in ("'s", "’s"):
        return "possessive"
    if not word[0].isalnum():
        return "comma" if word == "," else ""
    flags = _flags(lower)
    return "conjunction" if flags & CONJUNCTION else "verb" if flags & VERB or lower.endswith("ed") else "word"
