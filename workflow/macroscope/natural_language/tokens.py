"""Tokenization of meister2021 (§5): the rules of Moses (Koehn et al. 2007), then lower case.

The rules come from sacremoses, a maintained port. Languages that Moses has no rules for, or whose words no spaces
separate, are tokenized by the rules and dictionaries of ICU.

sacremoses applies some twenty regular expressions to every sentence. They depend on nothing beyond white space, with
two exceptions: a comma or an apostrophe at the beginning or end of the text has no neighbour, and whether a full stop
is split from its word depends on the beginning of the next word. So the tokens of a word in this context are computed
once, for many words at a time, and cached: most words of a text have occurred before.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import pandas as pd
from icu4py.breakers import WordBreaker
from numpy.typing import NDArray
from sacremoses import MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from macroscope.documents import in_batches
from macroscope.natural_language.languages import LANGUAGES
from macroscope.natural_language.spacy_pipeline import is_pipeline, tokenize_word

MAX_CACHED_WORDS = 1 << 19
"""Largest number of cached words in context; the cache is cleared when it would grow beyond."""

_PLAIN = re.compile(r"([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)([,;:!?)\"]?|\. X)")
"""Words, not at the end of a text, for which the rules only split off the punctuation behind them. A full stop is split
off unless the word is an abbreviation."""
_FIRST, _LAST = "\x00", "\x01"  # control characters: the rules delete them, and clean texts have none
_SEPARATOR = "XseparatorX"  # an ordinary word for the rules; it occurs in no text
_AT_ONCE = 500
Tokens = tuple[str, ...]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Tokens of a batch of texts.

    Attributes
    ----------
    types
        Distinct tokens of the batch, in the order of their appearance.
    ids
        Index into `types` of every token, text after text.
    lengths
        Number of tokens of each text.
    """

    types: list[str]
    ids: Integers
    lengths: Integers

    @property
    def texts(self) -> Integers:
        """Return the index of the text of each token."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


class Tokenizer(ABC):
    """Tokenizer, in lower case, that computes the tokens of each word in its context once."""

    def __init__(self) -> None:
        self._clear_cache()

    def __call__(self, texts: Sequence[str]) -> Batch:
        """Tokenize texts."""
        contexts = list(map(self._split, texts))
        words = list(chain.from_iterable(contexts))
        numbers = self._numbers(words)
        # self._tokens holds the tokens of each word from its start to its end: expand these ranges in order.
        starts, counts = self._starts[numbers], self._starts[numbers + 1] - self._starts[numbers]
        ends = np.cumsum(counts)
        ids = self._tokens[np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())]
        borders = np.cumsum([0, *map(len, contexts)])
        lengths = np.diff(np.concatenate([[0], ends])[borders])
        # Number the types by appearance, so that the result does not depend on earlier texts of the same process.
        ids, types = pd.factorize(ids)
        return Batch([self._types[i] for i in types], ids, lengths)

    @abstractmethod
    def _split(self, text: str) -> list[str]:
        """Return the words of a text, each with the context that its tokens depend on."""

    @abstractmethod
    def _tokenize_words(self, words: list[str]) -> dict[str, Tokens]:
        """Return the tokens of each word in its context."""

    def _clear_cache(self) -> None:
        self._words: dict[str, int] = {}  # word in its context -> its number
        self._type_numbers: dict[str, int] = {}
        self._types: list[str] = []
        self._tokens = np.empty(0, dtype=np.int64)  # numbers of the types of all words, word after word
        self._starts = np.zeros(1, dtype=np.int64)

    def _numbers(self, words: list[str]) -> Integers:
        """Return the numbers of words in context; add new words to the cache."""
        numbers = np.fromiter(map(self._words.get, words, repeat(-1)), np.int64, len(words))
        unknown = np.flatnonzero(numbers < 0)
        new = {words[i] for i in unknown}
        if len(self._words) + len(new) > MAX_CACHED_WORDS:
            self._clear_cache()
            unknown, new = np.arange(len(words)), set(words)
        if new:
            self._add_to_cache(sorted(new))  # in a fixed order, so that the same texts are processed in the same way
            numbers[unknown] = [self._words[words[i]] for i in unknown]
        return numbers

    def _add_to_cache(self, words: list[str]) -> None:
        tokens_by_word = self._tokenize_words(words)
        numbers = self._type_numbers
        ids = [numbers.setdefault(token, len(numbers)) for word in words for token in tokens_by_word[word]]
        self._types = list(numbers)
        self._words.update(zip(words, range(len(self._words), len(self._words) + len(words)), strict=True))
        counts = np.array([len(tokens_by_word[word]) for word in words], dtype=np.int64)
        self._starts = np.concatenate([self._starts, self._starts[-1] + np.cumsum(counts)])
        self._tokens = np.concatenate([self._tokens, np.array(ids, dtype=np.int64)])


class MosesTokens(Tokenizer):
    """Tokenizer with the rules of Moses.

    Parameters
    ----------
    language
        ISO 639-1 code, which selects the apostrophe rules and the abbreviations.
    """

    def __init__(self, language: str = "en") -> None:
        super().__init__()
        self._port = _Port(language)

    def _split(self, text: str) -> list[str]:
        return _in_context(text.split())

    def _tokenize_words(self, words: list[str]) -> dict[str, Tokens]:
        tokens: dict[str, Tokens] = {}
        inside = []
        for word in words:
            if (plain := _PLAIN.fullmatch(word)) and plain[1] not in self._port.NONBREAKING_PREFIXES:
                tokens[word] = (plain[1].lower(), plain[2][0]) if plain[2] else (plain[1].lower(),)
            elif word[0] == _FIRST or word[-1] == _LAST or _SEPARATOR in word:
                tokens[word] = self._tokenize_at_border(word)
            else:
                inside.append(word)
        for batch in in_batches(inside, _AT_ONCE):
            tokens.update(zip(batch, self._tokenize_inside(batch), strict=True))
        return tokens

    def _tokenize_inside(self, keys: Sequence[str]) -> list[Tokens]:
        """Tokenize words inside a text, all in one call of the port."""
        joined = f" {_SEPARATOR} ".join(keys)
        tokens = self._port.tokenize(f"{_SEPARATOR} {joined} {_SEPARATOR}", escape=False)
        ends = [n for n, token in enumerate(tokens) if token == _SEPARATOR]
        # The key of a word that ends in a full stop includes a placeholder for the next word.
        return [
            tuple(token.lower() for token in tokens[start + 1 : end - (" " in key)])
            for key, start, end in zip(keys, ends[:-1], ends[1:], strict=True)
        ]

    def _tokenize_at_border(self, key: str) -> Tokens:
        """Tokenize the first or the last word of a text."""
        parts = key.split(" ")
        first, last = parts[0] == _FIRST, parts[-1] == _LAST
        words = parts[first : len(parts) - last]
        # Add a placeholder for each existing neighbour; the key includes the one after a full stop.
        before = [] if first else ["X"]
        after = [] if last or len(words) > 1 else ["X"]
        tokens = self._port.tokenize(" ".join([*before, *words, *after]), escape=False)
        return tuple(token.lower() for token in tokens[len(before) : len(tokens) - (not last)])


class DictionaryTokens(Tokenizer):
    """Tokenizer with the rules of Unicode (UAX 29), and ICU's dictionaries for scripts without spaces."""

    def _split(self, text: str) -> list[str]:
        return [word for word in WordBreaker(text, "en") if not word.isspace()]  # the rules are the same in all locales

    def _tokenize_words(self, words: list[str]) -> dict[str, Tokens]:
        return {word: (word.lower(),) for word in words}


class PipelineTokens(Tokenizer):
    """Tokenizer of a pipeline of spaCy.

    Parameters
    ----------
    pipeline
        Name of the pipeline.
    """

    def __init__(self, pipeline: str) -> None:
        super().__init__()
        self._pipeline = pipeline

    def _split(self, text: str) -> list[str]:
        return text.split()

    def _tokenize_words(self, words: list[str]) -> dict[str, Tokens]:
        return {word: tokenize_word(word, self._pipeline) for word in words}


def make_tokenizer(language: str) -> Tokenizer:
    """Make the tokenizer of a language, or of a pipeline of spaCy."""
    if is_pipeline(language):
        return PipelineTokens(language)
    has_rules = language in NonbreakingPrefixes().available_langs and LANGUAGES[language].has_spaces
    return MosesTokens(language) if has_rules else DictionaryTokens()


class _Port(MosesTokenizer):
    """Tokenizer of sacremoses with its sets built once; sacremoses rebuilds or searches lists at every full stop."""

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
    """Return each word with the part of its context that its tokens depend on."""
    if not words:
        return []
    keys = words.copy()
    for i in [i for i, word in enumerate(words[:-1]) if word[-1] == "."]:
        keys[i] = f"{words[i]} {_beginning(words[i + 1])}"
    if words[-1][-1] == ".":
        keys[-1] = f"{words[-1]} X"  # the end of the text acts as an ordinary next word
    elif words[-1][-1] in ",'":
        keys[-1] = f"{words[-1]} {_LAST}"
    if words[0][0] in ",'":
        keys[0] = f"{_FIRST} {keys[0]}"
    return keys


def _beginning(word: str) -> str:
    """Return a placeholder with the same kind of first character, which is all that the rules for full stops use."""
    return "a" if word[0].islower() else "1" if "0" <= word[0] <= "9" else "X"
