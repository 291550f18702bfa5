"""Which documents are looked at: a rule that real and generated texts go through alike (deng2022 Appendix G)."""

import re
from collections.abc import Callable

from macroscope.corpora.sentences import split_sentences
from macroscope.critics.coreference.options import Domain
from macroscope.documents import Document

_WORD = re.compile(r"\w+")


def is_within(domain: Domain | None) -> Callable[[Document], bool]:
    """Make the function that tells whether a document is in a domain; all are in none."""
    if domain is None:
        return lambda document: True
    pattern = re.compile(domain.pattern, re.DOTALL)

    def within(document: Document) -> bool:
        text = _part(document, domain.within)
        words = set(_WORD.findall(text))
        wanted = words.issuperset(domain.words) and words.isdisjoint(domain.without)
        return bool(wanted and pattern.match(text))

    return within


def _part(document: Document, within: str) -> str:
    if within == "text":
        return document.text
    section = document.sections[0].text
    return section if within == "first_section" else next(iter(split_sentences(section)), "").rstrip()
