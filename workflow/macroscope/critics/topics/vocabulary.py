"""Which words a topic model sees (deng2022 Appendix F)."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from macroscope.critics.words import lower_case_words
from macroscope.documents import Document

Tokenize = Callable[[str], list[str]]
_LATEX_DEBRIS = ("xmath", "xcite")


def published_words(text: str) -> list[str]:
    """As in the published code: what stands between spaces, with its case and punctuation."""
    return text.split()


TOKENIZERS: dict[str, Tokenize] = {"definition": lower_case_words, "published": published_words}
"""Convention -> what cuts texts into words."""


@dataclass(frozen=True)
class Limits:
    """Which words are kept.

    Attributes
    ----------
    stop_words
        In lower case; none of them is kept.
    most_documents
        Share of the documents; a word that occurs in so many or more says nothing of topics.
    least_frequency
        Fewest occurrences in all documents together.
    """

    stop_words: frozenset[str]
    most_documents: float = 0.5
    least_frequency: int = 5


def vocabulary(documents: Iterable[Document], tokenize: Tokenize, limits: Limits) -> tuple[list[str], dict[str, int]]:
    """Words of training documents, the most frequent first, and how many words each limit leaves out.

    Words of one frequency are in the order in which they first occur.

    Returns
    -------
    words, dropped
        dropped: distinct words by the first limit that each fails, in order: "stop word", "LaTeX debris", "in too many
        documents", "too rare".
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
        elif any(debris in lower for debris in _LATEX_DEBRIS):
            dropped["LaTeX debris"] += 1
        elif occurs_in[word] >= limits.most_documents * total:
            dropped["in too many documents"] += 1
        elif count < limits.least_frequency:
            dropped["too rare"] += 1
        else:
            kept.append(word)
    return sorted(kept, key=lambda word: -frequency[word]), dropped
