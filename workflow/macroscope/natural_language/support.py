"""Rules and data that exist for some languages only, as named capabilities."""

from collections.abc import Callable, Mapping

from macroscope.natural_language.languages import ENGLISH, LANGUAGES
from macroscope.natural_language.lemmas import has_lemmas
from macroscope.natural_language.stop_words import has_stop_words

CAPABILITIES: Mapping[str, Callable[[str], bool]] = {
    "coreference resolver": lambda language: language == ENGLISH,
    "list of stop words": has_stop_words,
    "dictionary of lemmas": has_lemmas,
}
"""Name of each capability -> whether a language has it. Words and sentences exist for all languages."""


def share_script(language: str, others: frozenset[str]) -> bool:
    """Return whether a language is written in the script of one of others."""
    return LANGUAGES[language].script in {LANGUAGES[code].script for code in others}
