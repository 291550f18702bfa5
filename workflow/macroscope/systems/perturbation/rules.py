"""Application of perturbation rules: the function of each rule, called with the rule's options."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.natural_language.function_words import ARTICLES
from macroscope.natural_language.languages import ENGLISH, LANGUAGES, name_of
from macroscope.natural_language.stop_words import has_stop_words, stop_words
from macroscope.systems.perturbation.halves import splice_documents, swap_first_halves
from macroscope.systems.perturbation.mentions import swap_entities, swap_pronouns
from macroscope.systems.perturbation.pieces import drop_sections, shuffle_sections
from macroscope.systems.perturbation.sentences import remove_sentences, repeat_sentences, shuffle_sentences
from macroscope.systems.perturbation.steps import (
    AnyStep,
    DropSections,
    RemoveArticles,
    RemoveSentences,
    RemoveStopWords,
    RepeatSentences,
    ShuffleSections,
    ShuffleSentences,
    ShuffleWords,
    SpliceDocuments,
    SwapEntities,
    SwapFirstHalves,
    SwapPronouns,
    Truncate,
)
from macroscope.systems.perturbation.words import (
    remove_articles,
    remove_stop_words,
    shuffle_words,
    truncate,
)

Random = np.random.Generator

_JOINING: dict[type, Callable[[Sequence[Document], str, Random], list[Document]]] = {
    SwapFirstHalves: swap_first_halves,
    SpliceDocuments: splice_documents,
}
"""Functions of rules that join documents of the collection."""

_CHANGES: dict[type, Callable[[Document, Any, str, Random], Document]] = {
    Truncate: lambda document, step, language, rng: truncate(document, step.share, step.words),
    RemoveArticles: lambda document, step, language, rng: remove_articles(
        document, step.articles or ARTICLES[language], step.match_case
    ),
    RemoveStopWords: lambda document, step, language, rng: remove_stop_words(document, stop_words(language)),
    ShuffleWords: lambda document, step, language, rng: shuffle_words(document, rng),
    ShuffleSections: lambda document, step, language, rng: shuffle_sections(document, rng),
    DropSections: lambda document, step, language, rng: drop_sections(document, step.share, rng),
    ShuffleSentences: lambda document, step, language, rng: shuffle_sentences(document, language, rng),
    RepeatSentences: lambda document, step, language, rng: repeat_sentences(document, step.share, language, rng),
    RemoveSentences: lambda document, step, language, rng: remove_sentences(document, step.number, language, rng),
    SwapPronouns: lambda document, step, language, rng: swap_pronouns(document, step.share, stop_words(language), rng),
    SwapEntities: lambda document, step, language, rng: swap_entities(document, step.after, language, rng),
}
"""Functions of rules that change each document independently."""


def apply_step(documents: Sequence[Document], step: AnyStep, language: str, key: Sequence[int]) -> list[Document]:
    """Apply one step to a collection.

    Parameters
    ----------
    language
        ISO 639-1 code of the texts.
    key
        Numbers that seed the step. Each document has its own generator, seeded by these and its id, so that the result
        for a document does not depend on others, except for rules that join documents.

    Returns
    -------
    list of Document
        The perturbed documents in the same order, with the same ids; some may have no sections.
    """
    joining = _JOINING.get(type(step))
    if joining is not None:
        return joining(documents, language, np.random.default_rng([*key]))
    change = _CHANGES[type(step)]
    return [
        change(document, step, language, np.random.default_rng([*key, crc32(document.id.encode())]))
        for document in documents
    ]


def require_language(step: AnyStep, language: str, place: str) -> None:
    """Raise `MacroscopeError` if a rule does not support the language of the texts.

    Parameters
    ----------
    place
        Place of the step in the config, for the message.
    """
    lacking = _lacking(step, language)
    if lacking is not None:
        raise MacroscopeError(f"{place}: {lacking}")


def _lacking(step: AnyStep, language: str) -> str | None:
    """Return what a rule lacks for a language, and the way out; None if it lacks nothing."""
    name = name_of(language)
    if isinstance(step, RemoveArticles) and step.articles is None and language not in ARTICLES:
        return f"{name} has no articles that are known here; name them in 'articles', or omit the step"
    if isinstance(step, RemoveArticles | RemoveStopWords) and not LANGUAGES[language].has_spaces:
        return f"words are removed between spaces, which {name} does not write; omit the step"
    if isinstance(step, RemoveStopWords) and not has_stop_words(language):
        return f"there is no list of stop words for {name}; add resources/stop_words/{language}.txt, or omit the step"
    if isinstance(step, SwapPronouns) and language != ENGLISH:
        return f"only English pronouns are known, not those of {name}; omit the step"
    if isinstance(step, SwapEntities) and (language == "de" or not LANGUAGES[language].has_capitals):
        return f"names are recognized by their capitals, which do not distinguish them in {name}; omit the step"
    return None
