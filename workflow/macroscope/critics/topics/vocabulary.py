"""Vocabulary of a topic model (deng2022 Appendix F)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from macroscope.documents import Document
from macroscope.natural_language.words import lower_case_words

Tokenize = Callable[[str], list[str]]


def published_words(text: str) -> list[str]:
    """Split a text at white space and keep case and punctuation, as in the published code."""
    return text.split()


TOKENIZERS: dict[str, Tokenize] = {"definition": lower_case_words, "published": published_words}
"""Convention -> function that splits texts into words."""
LATEX_DEBRIS = {"definition": ("xmath", "xcite"), "published": ("xmath",)}
"""Convention -> parts of words that stand for formulas and citations in the papers of Cohan et al. (2018)."""


@dataclass(frozen=True)
class Limits:
    """Limits on the words of a vocabulary.

    Attributes
    ----------
    stop_words
        Excluded words, in lower case.
    debris
        Parts of excluded words, in lower case.
    most_documents
        Share of documents at or above which a word is excluded as uninformative about topics.
    least_frequency
        Smallest number of occurrences in all documents.
    """

    stop_words: frozenset[str]
    debris: Sequence[str] = LATEX_DEBRIS["definition"]
    most_documents: float = 0.5
    least_frequency: int = 5


def build_vocabulary(
    documents: Iterable[Document], tokenize: Tokenize, limits: Limits
) -> tuple[list[str], dict[str, int]]:
    """Select the words of training documents.

    Returns
    -------
    words
        Selected words, the most frequent first; words of equal frequency are in order of first occurrence.
    dropped
        Numbers of distinct words by the first limit that they fail, in this order: "stop word", "LaTeX debris", "in too
        many documents", "too rare".
    """
    frequency: Counter[str] = Counter()
    occurs_in: Counter[str] = Counter()
    total = 0
    for document in documents:
        words = tokenize(document.text)
        frequency.update(words)
        occurs_in.update(set(words))
        total += 1
    dropped = {"stop word": 0, "LaTeX debris": 0, "in too many documents": 0, "too rare": 0}
    kept = []
    for word, count in frequency.items():
        lower = word.lower()
        if lower in limits.stop_words:
            dropped["stop word"] += 1
        elif any(debris in lower for debris in limits.debris):
            dropped["LaTeX debris"] += 1
        elif occurs_in[word] >= limits.most_documents * total:
            dropped["in too many documents"] += 1
        elif count < limits.least_frequency:
            dropped["too rare"] += 1
        else:
            kept.append(word)
    return sorted(kept, key=lambda word: -frequency[word]), dropped
