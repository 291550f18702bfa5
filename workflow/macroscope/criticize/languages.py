"""The languages of a user's texts: the one by whose rules they are read, and sentences about differences."""

from collections import Counter
from collections.abc import Mapping

from macroscope.natural_language.detection import UNKNOWN, main_language
from macroscope.natural_language.languages import ENGLISH, name_of, require_code
from macroscope.phrases import format_share

_DIFFERENT = 0.1
"""Share of texts that must be in other languages for a difference."""


def choose_language(reference: Counter[str], requested: str | None) -> str:
    """Return the language that the user requests, or that of most texts of the reference, or else English.

    Parameters
    ----------
    reference
        Numbers of texts by language.

    Raises
    ------
    MacroscopeError
        If the requested language is unknown.
    """
    if requested is not None:
        return require_code(requested)
    main = main_language(reference)
    return ENGLISH if main == UNKNOWN else main


def languages_differ(reference: Counter[str], candidate: Counter[str]) -> bool:
    """Return whether two collections differ in the languages of their texts, by those that are recognized."""
    of_reference, of_candidate = _shares(reference), _shares(candidate)
    distance = (
        sum(abs(of_reference.get(code, 0) - of_candidate.get(code, 0)) for code in of_reference | of_candidate) / 2
    )
    return bool(of_reference and of_candidate) and distance >= _DIFFERENT


def describe_differences(
    reference: Counter[str],
    candidates: Mapping[str, Counter[str]],
    language: str,
    requested: str | None,
    name_of_reference: str = "the reference",
) -> list[str]:
    """Return sentences for the user about languages that differ, or that are not clear.

    Parameters
    ----------
    reference, candidates
        Numbers of texts by language, of the reference and of each candidate.
    language, requested
        The language by whose rules the texts are read, and that of the user's command, if any.
    """
    sentences = [
        f"Languages differ: {name_of_reference} has {describe_languages(reference)}, and {name} has"
        f" {describe_languages(candidate)}. Any difference below may be one of language."
        for name, candidate in candidates.items()
        if languages_differ(reference, candidate)
    ]
    main = main_language(reference)
    if requested is None and main == UNKNOWN:
        sentences.append(
            f"No language is clear in most texts of {name_of_reference} ({describe_languages(reference)}). They are"
            f" read as {name_of(language)}; give --language."
        )
    elif main not in (language, UNKNOWN):
        sentences.append(
            f"The texts are read as {name_of(language)}, but most of {name_of_reference} is {name_of(main)}."
        )
    return sentences


def describe_languages(languages: Counter[str]) -> str:
    """Return the shares of the three most frequent languages, in words."""
    common = sorted(languages.items(), key=lambda item: (-item[1], item[0]))[:3]
    total = languages.total()
    return ", ".join(f"{_named(code)} {format_share(number / total)}" for code, number in common)


def _named(code: str) -> str:
    return "unknown" if code == UNKNOWN else f"{name_of(code)} ({code})"


def _shares(languages: Counter[str]) -> dict[str, float]:
    recognized = {code: number for code, number in languages.items() if code != UNKNOWN}
    return {code: number / sum(recognized.values()) for code, number in recognized.items()}
