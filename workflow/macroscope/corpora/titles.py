"""Normalisation of section titles to section types (deng2022, Appendix E)."""

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

import regex
import yaml

from macroscope.files import RESOURCES
from macroscope.natural_language.words import lemmatise, singular

RARE_TITLE = "other"
"""Section type of the rare titles of a user's real texts, and of titles of a system that these do not have."""
_MARKUP = re.compile(r"<[^>]*>|\{\{[^{}]*\}\}|'{2,}|\[\[(?:[^\]|]*\|)?|\]\]|@x(?:cite|math)\d*")
_LIST_ROMAN = re.compile(r"^\s*(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})\s*[.):–—-]+(?=\s|$)")
_POSSESSIVE = re.compile(r"['’]s\b|s['’](?=\s|$)")
_WORD = regex.compile(r"\p{L}[+#]+(?!\p{L})|[\p{L}\p{M}\p{N}]*\p{L}[\p{L}\p{M}\p{N}]*")
"""A word: letters with their marks, which many scripts write vowels with, and digits beside them ("1990s"); C++ and
C#. Numbers alone are none."""
_DISTINCT_TITLES = 1 << 18


def normalise_title(title: str, language: str = "en") -> str:
    """Return the standard form of a section title: its section type.

    The standard form is in lower case and Unicode NFKC, without markup, punctuation and numbers; a Roman number is
    removed if it numbers the section ("IV. Results"). Each word is lemmatised, then brought to its standard spelling.

    Parameters
    ----------
    title
        Title as in the document.
    language
        ISO 639-1 code. English words are lemmatised as nouns, as the paper's lemmatiser does without a part of speech
        ("playing career" stays, "results" becomes "result"); see `natural_language.words` for other languages.

    Returns
    -------
    str
        Words joined by single spaces. A title without any word ("1998") keeps its lower-cased form: it is a title,
        though a rare one.
    """
    return _normalise(title, language)


@lru_cache(maxsize=_DISTINCT_TITLES)
def _normalise(title: str, language: str) -> str:
    spelling = _spelling(language)
    plain = (
        _MARKUP.sub(" ", unicodedata.normalize("NFKC", html.unescape(title)))
        .lower()
        .replace("&", f" {spelling.conjunction} ")
    )
    words = _WORD.findall(_POSSESSIVE.sub(_without_apostrophe, _LIST_ROMAN.sub(" ", plain)))
    standard = (_standard_word(word, language, spelling) for word in words)
    return " ".join(word for word in standard if word) or " ".join(plain.split())


def _without_apostrophe(match: re.Match[str]) -> str:
    return "s" if match.group().startswith("s") else ""


@dataclass(frozen=True)
class _Spelling:
    """Entry of one language in resources/title_spellings.yaml."""

    lemmas: dict[str, str]
    words: dict[str, str]
    conjunction: str


@cache
def _spelling(language: str) -> _Spelling:
    entries = yaml.safe_load((RESOURCES / "title_spellings.yaml").read_text(encoding="utf-8"))
    entry = entries.get(language, {})
    return _Spelling(entry.get("lemmas", {}), entry.get("words", {}), entry.get("conjunction", " "))


def _standard_word(word: str, language: str, spelling: _Spelling) -> str:
    lemma = spelling.lemmas.get(word)
    if lemma is None:
        lemma = singular(word) if language == "en" else lemmatise(word, language)
    return spelling.words.get(lemma, lemma)
