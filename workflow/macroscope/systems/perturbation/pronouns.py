"""Perturbation of pronouns: English ones in the wrong gender.

"Her" is "his" before a noun and "him" elsewhere; "his" is "her" before a noun and "hers" elsewhere. Without a trained
model, what follows decides: punctuation, the end of the text, or a stop word that begins no noun phrase ("told her
that") means "elsewhere". "Gave her money" comes out as "gave his money", not "gave him money".
"""

import re
from collections.abc import Collection

import numpy as np

from macroscope.documents import Document
from macroscope.systems.perturbation.pieces import number_of, with_texts

_EXCHANGED = {
    "he": "she",
    "she": "he",
    "him": "her",
    "hers": "his",
    "himself": "herself",
    "herself": "himself",
}
_POSSESSIVE = {"her": ("his", "him"), "his": ("her", "hers")}
"""Before a noun, and elsewhere."""
_MODIFIERS = frozenset(
    ["few", "more", "most", "no", "not", "now", "once", "only", "other", "own", "same", "then", "very"]
)
"""Stop words that may stand between a possessive and its noun."""

_PRONOUN = re.compile(r"(?<![\w-])(?:he|she|him|her|his|hers|himself|herself)(?![\w-])", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[^\S\n]+[\"'“‘(]?(\w+)")


def swap_pronouns(document: Document, share: float, stop_words: Collection[str], rng: np.random.Generator) -> Document:
    """Exchange a share of a document's pronouns, at least one, with those of the other gender.

    Parameters
    ----------
    stop_words
        Those of English, in lower case: what may follow an object, but not a possessive.
    """
    counts = [len(_PRONOUN.findall(section.text)) for section in document.sections]
    total = sum(counts)
    chosen = rng.permutation(total)[: number_of(share, total)]
    texts, before = [], 0
    for section, count in zip(document.sections, counts, strict=True):
        texts.append(_exchanged(section.text, set((chosen - before).tolist()), stop_words))
        before += count
    return with_texts(document, texts)


def _exchanged(text: str, chosen: Collection[int], stop_words: Collection[str]) -> str:
    """Exchange the pronouns of these numbers in a text."""
    parts, start = [], 0
    for number, found in enumerate(_PRONOUN.finditer(text)):
        if number in chosen:
            other = _other(found.group().lower(), text, found.end(), stop_words)
            parts += [text[start : found.start()], _in_case_of(found.group(), other)]
            start = found.end()
    return "".join([*parts, text[start:]])


def _other(pronoun: str, text: str, end: int, stop_words: Collection[str]) -> str:
    """Pronoun of the other gender, by what follows in the text after `end`."""
    if pronoun in _EXCHANGED:
        return _EXCHANGED[pronoun]
    before_noun, elsewhere = _POSSESSIVE[pronoun]
    word = _NEXT_WORD.match(text, end)
    if word is None:
        return elsewhere
    lowered = word.group(1).lower()
    return before_noun if lowered in _MODIFIERS or lowered not in stop_words else elsewhere


def _in_case_of(word: str, other: str) -> str:
    if word.isupper():
        return other.upper()
    return other.capitalize() if word[0].isupper() else other
