"""Lemmas of words of many languages, from the dictionaries of simplemma."""

from collections.abc import Callable
from functools import cache

from macroscope.natural_language.languages import LANGUAGES

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
