"""Tokens as meister2021 (§5) has them: the rules of Moses (Koehn et al. 2007), then lower case.

The rules come from sacremoses, a maintained port, which applies some twenty regular expressions to every sentence.
None of them looks past white space, but for two things: the first and the last word of a text have no neighbour, and
whether a full stop stays at its word depends on how the next one begins. So the tokens of a word in its context need to
be found only once, and a text is mostly words that were there before.
"""

import re
from itertools import chain

from sacremoses import MosesTokenizer

MOST_WORDS = 1 << 19
"""Words in their context that are remembered; when there are more, all are forgotten."""

_PLAIN = re.compile(r"([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)([,;:!?)\"]?)")
"""Words, anywhere but at the end of a text, that no rule changes but for splitting off what follows them."""
_FIRST, _LAST = "\x00", "\x01"  # control characters: the rules delete them, and no word of a clean text has them


class MosesTokens:
    """Tokens of a text, in lower case.

    Parameters
    ----------
    language
        ISO 639-1 code: which apostrophe rules and which abbreviations hold.
    """

    def __init__(self, language: str = "en") -> None:
        self._words = _Words(MosesTokenizer(language))

    def __call__(self, text: str) -> list[str]:
        """Tokenize a text; [] for one without any."""
        words = text.split()
        if not words:
            return []
        return list(chain.from_iterable(map(self._words.__getitem__, _in_context(words))))


def _in_context(words: list[str]) -> list[str]:
    """Each word with as much of its context as its tokens depend on."""
    keys = words.copy()
    for i in [i for i, word in enumerate(words[:-1]) if word[-1] == "."]:
        keys[i] = f"{words[i]} {_beginning(words[i + 1])}"
    keys[-1] = f"{keys[-1]} {_LAST}"
    keys[0] = f"{_FIRST} {keys[0]}"
    return keys


def _beginning(word: str) -> str:
    """Return a word that begins as this one does, as far as the rules for full stops see."""
    return "a" if word[0].islower() else "1" if "0" <= word[0] <= "9" else "X"


class _Words(dict[str, tuple[str, ...]]):
    """Tokens of words in their context, found when they are first asked for."""

    def __init__(self, tokenizer: MosesTokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, key: str) -> tuple[str, ...]:
        if len(self) >= MOST_WORDS:
            self.clear()
        tokens = self[key] = self._tokens(key)
        return tokens

    def _tokens(self, key: str) -> tuple[str, ...]:
        if plain := _PLAIN.fullmatch(key):
            return tuple(part.lower() for part in plain.groups() if part)
        parts = key.split(" ")
        first, last = parts[0] == _FIRST, parts[-1] == _LAST
        words = parts[first : len(parts) - last]
        # A stand-in for each neighbour that there is; the one after a full stop comes with the key.
        before = [] if first else ["X"]
        after = [] if last or len(words) > 1 else ["X"]
        tokens = self._tokenizer.tokenize(" ".join([*before, *words, *after]), escape=False)
        return tuple(token.lower() for token in tokens[len(before) : len(tokens) - (not last)])
