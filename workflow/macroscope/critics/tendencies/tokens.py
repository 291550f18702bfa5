"""Tokens as meister2021 (§5) has them: the rules of Moses (Koehn et al. 2007), then lower case.

The rules come from sacremoses, a maintained port, which applies some twenty regular expressions to every sentence.
None of them looks past white space, but for two things: a comma or an apostrophe that begins or ends the text has no
neighbour, and whether a full stop stays at its word depends on how the next one begins. So the tokens of a word in its
context need to be found only once, many words at a time, and a text is mostly words that were there before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sacremoses import MosesTokenizer

from macroscope.documents import in_batches

MOST_WORDS = 1 << 19
"""Words in their context that are remembered; when there are more, all are forgotten."""

_PLAIN = re.compile(r"([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)([,;:!?)\"]?|\. X)")
"""Words, anywhere but at the end of a text, that no rule changes but for splitting off what follows them; a full stop
only where the word is no abbreviation."""
_FIRST, _LAST = "\x00", "\x01"  # control characters: the rules delete them, and no word of a clean text has them
_SEPARATOR = "XseparatorX"  # a word like any other to the rules, and in no text
_AT_ONCE = 500
Tokens = tuple[str, ...]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Tokens of some texts.

    Attributes
    ----------
    types
        Distinct tokens of the batch, in the order of their appearance.
    ids
        Index into `types` of every token, text after text.
    lengths
        Tokens of each text.
    """

    types: list[str]
    ids: Integers
    lengths: Integers

    @property
    def texts(self) -> Integers:
        """Index of the text of each token."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


class MosesTokens:
    """Tokens of texts, in lower case.

    Parameters
    ----------
    language
        ISO 639-1 code: which apostrophe rules and which abbreviations hold.
    """

    def __init__(self, language: str = "en") -> None:
        self._port = _Port(language)
        self._forget()

    def __call__(self, texts: Sequence[str]) -> Batch:
        """Tokenize some texts."""
        contexts = [_in_context(text.split()) for text in texts]
        words = list(chain.from_iterable(contexts))
        numbers = self._numbers(words)
        # The tokens of each word lie in self._tokens from its start to its end: expand these ranges, one after another.
        starts, counts = self._starts[numbers], self._starts[numbers + 1] - self._starts[numbers]
        ends = np.cumsum(counts)
        ids = self._tokens[np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())]
        borders = np.cumsum([0, *map(len, contexts)])
        lengths = np.diff(np.concatenate([[0], ends])[borders])
        # Numbered by appearance: what was learnt from earlier texts must not show, whatever process had these.
        ids, types = pd.factorize(ids)
        return Batch([self._types[i] for i in types], ids, lengths)

    def _forget(self) -> None:
        self._words: dict[str, int] = {}  # word in its context -> its number
        self._type_numbers: dict[str, int] = {}
        self._types: list[str] = []
        self._tokens = np.empty(0, dtype=np.int64)  # numbers of the types of all words, word after word
        self._starts = np.zeros(1, dtype=np.int64)

    def _numbers(self, words: list[str]) -> Integers:
        """Numbers of words in their context; new ones are learnt."""
        numbers = np.fromiter(map(self._words.get, words, repeat(-1)), np.int64, len(words))
        unknown = np.flatnonzero(numbers < 0)
        new = {words[i] for i in unknown}
        if len(self._words) + len(new) > MOST_WORDS:
            self._forget()
            unknown, new = np.arange(len(words)), set(words)
        if new:
            self._learn(sorted(new))  # in a fixed order, so that the same texts take the same way
            numbers[unknown] = [self._words[words[i]] for i in unknown]
        return numbers

    def _learn(self, words: list[str]) -> None:
        found = self._find(words)
        numbers = self._type_numbers
        ids = [numbers.setdefault(token, len(numbers)) for word in words for token in found[word]]
        self._types = list(numbers)
        self._words.update(zip(words, range(len(self._words), len(self._words) + len(words)), strict=True))
        counts = np.array([len(found[word]) for word in words], dtype=np.int64)
        self._starts = np.concatenate([self._starts, self._starts[-1] + np.cumsum(counts)])
        self._tokens = np.concatenate([self._tokens, np.array(ids, dtype=np.int64)])

    def _find(self, words: list[str]) -> dict[str, Tokens]:
        """Tokens of each word in its context."""
        found: dict[str, Tokens] = {}
        together = []
        for word in words:
            if (plain := _PLAIN.fullmatch(word)) and plain[1] not in self._port.NONBREAKING_PREFIXES:
                found[word] = (plain[1].lower(), plain[2][0]) if plain[2] else (plain[1].lower(),)
            elif word[0] == _FIRST or word[-1] == _LAST or _SEPARATOR in word:
                found[word] = self._tokens_at_border(word)
            else:
                together.append(word)
        for some in in_batches(together, _AT_ONCE):
            found.update(zip(some, self._tokens_inside(some), strict=True))
        return found

    def _tokens_inside(self, keys: Sequence[str]) -> list[Tokens]:
        """Tokens of words inside a text, all in one go."""
        joined = f" {_SEPARATOR} ".join(keys)
        tokens = self._port.tokenize(f"{_SEPARATOR} {joined} {_SEPARATOR}", escape=False)
        ends = [n for n, token in enumerate(tokens) if token == _SEPARATOR]
        # A word that ends in a full stop has a stand-in for its neighbour behind it.
        return [
            tuple(token.lower() for token in tokens[start + 1 : end - (" " in key)])
            for key, start, end in zip(keys, ends[:-1], ends[1:], strict=True)
        ]

    def _tokens_at_border(self, key: str) -> Tokens:
        """Tokens of the first or the last word of a text."""
        parts = key.split(" ")
        first, last = parts[0] == _FIRST, parts[-1] == _LAST
        words = parts[first : len(parts) - last]
        # A stand-in for each neighbour that there is; the one after a full stop comes with the key.
        before = [] if first else ["X"]
        after = [] if last or len(words) > 1 else ["X"]
        tokens = self._port.tokenize(" ".join([*before, *words, *after]), escape=False)
        return tuple(token.lower() for token in tokens[len(before) : len(tokens) - (not last)])


class _Port(MosesTokenizer):
    """The port, with its sets made once: it makes them anew, or goes through a list, at every full stop."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self._lower, self._alpha = frozenset(self.IsLower), frozenset(self.IsAlpha)
        for name in ("NONBREAKING_PREFIXES", "NUMERIC_ONLY_PREFIXES"):
            setattr(self, name, frozenset(getattr(self, name)))

    def islower(self, text: str) -> bool:
        return self._lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        return not self._alpha.isdisjoint(text)


def _in_context(words: list[str]) -> list[str]:
    """Each word with as much of its context as its tokens depend on."""
    if not words:
        return []
    keys = words.copy()
    for i in [i for i, word in enumerate(words[:-1]) if word[-1] == "."]:
        keys[i] = f"{words[i]} {_beginning(words[i + 1])}"
    if words[-1][-1] == ".":
        keys[-1] = f"{words[-1]} X"  # the end of the text is no abbreviation's neighbour either
    elif words[-1][-1] in ",'":
        keys[-1] = f"{words[-1]} {_LAST}"
    if words[0][0] in ",'":
        keys[0] = f"{_FIRST} {keys[0]}"
    return keys


def _beginning(word: str) -> str:
    """Return a word that begins as this one does, as far as the rules for full stops see."""
    return "a" if word[0].islower() else "1" if "0" <= word[0] <= "9" else "X"
