"""Application of perturbation rules: the function of each rule, called with the rule's options."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from macroscope.corpora.stop_words import stop_words, stop_words_path
from macroscope.documents import Document
from macroscope.errors import MacroscopeError
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
    ARTICLES,
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
    if isinstance(step, RemoveArticles) and step.articles is None and language not in ARTICLES:
        raise MacroscopeError(f"{place}: the articles of language '{language}' are not known; name them in 'articles'")
    if isinstance(step, RemoveStopWords) and not stop_words_path(language).exists():
        raise MacroscopeError(
            f"{place}: there is no list of stop words for language '{language}'; add"
            f" resources/stop_words/{language}.txt, or omit the step"
        )
    if isinstance(step, SwapPronouns) and language != "en":
        raise MacroscopeError(f"{place}: only English pronouns are known, not those of '{language}'; omit the step")
