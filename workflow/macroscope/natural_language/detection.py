"""Detection of the language of a text, offline, by py3langid."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from macroscope.natural_language.languages import LANGUAGES

UNKNOWN = "?"
"""Result for texts that are clearly in no language of `LANGUAGES`."""
_CHARACTERS = 2000
"""Beginning of a text that is read: longer texts are hardly ever mistaken."""
_LEAST_PROBABILITY = 0.5


def detect_language(text: str) -> str:
    """Return the language of a text, one of `LANGUAGES`, or `UNKNOWN` if none has a probability of a half."""
    beginning = " ".join(dict.fromkeys(text[:_CHARACTERS].split()))  # a repeated word is no further evidence
    if not any(map(str.isalpha, beginning)):
        return UNKNOWN
    language, probability = _identifier().classify(beginning)
    return language if probability >= _LEAST_PROBABILITY else UNKNOWN


def main_language(languages: Counter[str]) -> str:
    """Return the language of more than half of the texts, or `UNKNOWN`.

    Parameters
    ----------
    languages
        Numbers of texts by language.
    """
    language, number = languages.most_common(1)[0] if languages else (UNKNOWN, 0)
    return language if 2 * number > languages.total() else UNKNOWN


def detect_languages(texts: Iterable[str]) -> Counter[str]:
    """Return the number of texts in each language."""
    return Counter(map(detect_language, texts))


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # reads its model for a second

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(sorted(LANGUAGES))
    return identifier
