"""Words of texts, also in scripts without spaces between words; stop words, lemmas, and which languages have them.

Chinese, Japanese, Thai, Lao, Khmer and Burmese words are those of ICU's dictionaries, which are the same for all
languages. Whether they are needed is seen from the characters, so that texts of several languages need no choice.
"""

import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import regex
from icu4py.breakers import WordBreaker
from stopwordsiso import has_lang, stopwords

from macroscope.files import RESOURCES
from macroscope.natural_language.languages import ENGLISH, LANGUAGES

Pattern: TypeAlias = re.Pattern[str] | regex.Pattern[str]

_LETTERS = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")
_BETWEEN_SPACES = regex.compile(r"\S+")
_WITHOUT_SPACES = regex.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}"
    r"\p{Script=Myanmar}]"
)
_NEUTRAL = "en"
"""Locale of the breaker: of these scripts, its rules are the same in all."""


def lower_case_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation and numbers."""
    lowered = unicodedata.normalize("NFC", text).lower()
    if not needs_dictionary(lowered):
        return _LETTERS.findall(lowered)
    return [lowered[start:end] for start, end in locate_pieces(lowered, _LETTERS) if _LETTERS.match(lowered, start)]


def locate_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, word) for each word of `lower_case_words`, with offsets in characters."""
    for start, end in locate_pieces(text, _LETTERS):
        yield start, end, unicodedata.normalize("NFC", text[start:end].lower())


def split_at_spaces(text: str, is_between: Pattern = _BETWEEN_SPACES) -> list[str]:
    """Return the words of a text with the punctuation on them: what spaces, or a dictionary, separate.

    Parameters
    ----------
    is_between
        Pattern of what is between two spaces.
    """
    if not needs_dictionary(text):
        return is_between.findall(text)
    return [text[start:end] for start, end in locate_pieces(text, is_between)]


def count_words(text: str) -> int:
    """Return the number of words of a text; see `split_at_spaces`."""
    return len(split_at_spaces(text))


def cut_after_words(text: str, words: int) -> str:
    """Return the beginning of a text that ends with its `words`-th word; the whole text if it has fewer."""
    ends = [end for _, end in islice(locate_pieces(text, _BETWEEN_SPACES), words)]
    return text[: ends[-1]] if len(ends) == words else text


def locate_pieces(text: str, pattern: Pattern) -> Iterator[tuple[int, int]]:
    """Yield the places of a pattern's matches; those in a script without spaces are cut into words."""
    locate = _locate_words_in if needs_dictionary(text) else _locate_whole
    for match in pattern.finditer(text):
        yield from locate(match.group(), match.start())


def needs_dictionary(text: str) -> bool:
    """Return whether a text has characters of a script without spaces."""
    return not text.isascii() and _WITHOUT_SPACES.search(text) is not None


def _locate_whole(piece: str, offset: int) -> Iterator[tuple[int, int]]:
    yield offset, offset + len(piece)


def _locate_words_in(piece: str, offset: int) -> Iterator[tuple[int, int]]:
    if not needs_dictionary(piece):
        yield offset, offset + len(piece)
        return
    for word in WordBreaker(piece, _NEUTRAL):  # its `segments` count UTF-16 units, not characters
        yield offset, offset + len(word)
        offset += len(word)


# ---- stop words ------------------------------------------------------------------------------------------------------
# Lists in resources/stop_words/<language>.txt, and those of stopwords-iso.

log = logging.getLogger("macroscope")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case; empty, with a warning, if there is no list."""
    path = stop_words_path(language)
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        return frozenset(word for line in lines for word in line.partition("#")[0].split())
    if not has_lang(language):
        log.warning(
            "language '%s': no list of stop words, so no word counts as one; add it to resources/stop_words/", language
        )
        return frozenset()
    # Its lists have signs and numbers as well, which are counted as symbols.
    return frozenset(word.lower() for word in stopwords(language) if any(map(str.isalpha, word)))


def has_stop_words(language: str) -> bool:
    """Return whether there is a list of stop words for a language."""
    return stop_words_path(language).exists() or has_lang(language)


def stop_words_path(language: str) -> Path:
    """Return the path of a language's list in this project, which may not exist."""
    return RESOURCES / "stop_words" / f"{language}.txt"


# ---- lemmas ----------------------------------------------------------------------------------------------------------
# They are those of the dictionaries of simplemma.

_DICTIONARIES = {"no": "nb", "hr": "hbs", "sr": "hbs"}
"""Languages whose dictionary has another code."""


# simplemma takes half a second to import, so only functions that need it do: the config does not.
@cache
def _dictionaries() -> frozenset[str]:
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    return SUPPORTED_LANGUAGES


@cache
def _lemmatizer() -> Callable[..., str]:
    from simplemma import lemmatize

    return lemmatize


def has_lemmas(language: str) -> bool:
    """Return whether words of a language can be lemmatised; Chinese and Thai words, for example, are not inflected."""
    return _DICTIONARIES.get(language, language) in _dictionaries() or not LANGUAGES[language].has_spaces


def lemmatise(word: str, language: str) -> str:
    """Return the lemma of a word in lower case; the word itself if there is no dictionary of its language."""
    dictionary = _DICTIONARIES.get(language, language)
    if dictionary not in _dictionaries():
        return word.lower()
    # German nouns are listed with a capital only.
    return _lemmatizer()(word.capitalize() if language == "de" else word, lang=dictionary).lower()


def singular(word: str) -> str:
    """Return the singular of an English plural; every other word, such as a verb form, is unchanged.

    The dictionary's lemma counts only if a rule of plural formation leads from it to the word.
    """
    lemma = _lemmatizer()(word, lang="en").lower()
    return lemma if word in _plurals(lemma) else word


def _plurals(noun: str) -> set[str]:
    plurals = {noun + "s", noun + "es"}
    for singular_end, plural_end in (("y", "ies"), ("f", "ves"), ("fe", "ves"), ("man", "men"), ("is", "es"),
                                     ("us", "i"), ("on", "a"), ("um", "a"), ("x", "ces"), ("ex", "ices"),
                                     ("ix", "ices"), ("a", "ae")):  # fmt: skip
        if noun.endswith(singular_end):
            plurals.add(noun.removesuffix(singular_end) + plural_end)
    return plurals


# ---- capabilities ----------------------------------------------------------------------------------------------------
# Rules and data that exist for some languages only.

CAPABILITIES: Mapping[str, Callable[[str], bool]] = {
    "coreference resolver": lambda language: language == ENGLISH,
    "list of stop words": has_stop_words,
    "dictionary of lemmas": has_lemmas,
}
"""Name of each capability -> whether a language has it. Words and sentences exist for all languages."""
