"""Perturbation of pronouns: English pronouns in the wrong gender.

"Her" becomes "his" before a noun and "him" elsewhere; "his" becomes "her" before a noun and "hers" elsewhere. There is
no trained model; the following word decides: punctuation, the end of the text, or a stop word that cannot begin a noun
phrase ("told her that") means "elsewhere". So "gave her money" becomes "gave his money", not "gave him money".
"""

import re
from collections.abc import Collection

import numpy as np

from macroscope.documents import Document
from macroscope.systems.perturbation.pieces import replace_texts, round_share

_SWAPPED = {
    "he": "she",
    "she": "he",
    "him": "her",
    "hers": "his",
    "himself": "herself",
    "herself": "himself",
}
_POSSESSIVE = {"her": ("his", "him"), "his": ("her", "hers")}
"""Replacements before a noun, and elsewhere."""
_MODIFIERS = frozenset(
    ["few", "more", "most", "no", "not", "now", "once", "only", "other", "own", "same", "then", "very"]
)
"""Stop words that may stand between a possessive and its noun."""

_PRONOUN = re.compile(r"(?<![\w-])(?:he|she|him|her|his|hers|himself|herself)(?![\w-])", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[^\S\n]+[\"'“‘(]?(\w+)")


def swap_pronouns(document: Document, share: float, stop_words: Collection[str], rng: np.random.Generator) -> Document:
    """Replace a share of a document's pronouns, at least one, by those of the other gender.

    Parameters
    ----------
    share
        Share of the pronouns.
    stop_words
        English stop words in lower case, which may follow an object but not a possessive.
    """
    counts = [len(_PRONOUN.findall(section.text)) for section in document.sections]
    total = sum(counts)
    chosen = rng.permutation(total)[: round_share(share, total)]
    texts, before = [], 0
    for section, count in zip(document.sections, counts, strict=True):
        texts.append(_swap_in_text(section.text, set((chosen - before).tolist()), stop_words))
        before += count
    return replace_texts(document, texts)


def _swap_in_text(text: str, chosen: Collection[int], stop_words: Collection[str]) -> str:
    """Replace the pronouns of given numbers in a text."""
    parts, start = [], 0
    for number, match in enumerate(_PRONOUN.finditer(text)):
        if number in chosen:
            swapped = _swap(match.group().lower(), text, match.end(), stop_words)
            parts += [text[start : match.start()], _match_case(swapped, match.group())]
            start = match.end()
    return "".join([*parts, text[start:]])


def _swap(pronoun: str, text: str, end: int, stop_words: Collection[str]) -> str:
    """Return the pronoun of the other gender, given the text after `end`."""
    if pronoun in _SWAPPED:
        return _SWAPPED[pronoun]
    before_noun, elsewhere = _POSSESSIVE[pronoun]
    word = _NEXT_WORD.match(text, end)
    if word is None:
        return elsewhere
    lowered = word.group(1).lower()
    return before_noun if lowered in _MODIFIERS or lowered not in stop_words else elsewhere


def _match_case(word: str, model: str) -> str:
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word
