"""Which documents are looked at: a rule that real and generated texts go through alike (deng2022 Appendix G)."""

import re
from collections.abc import Callable

from macroscope.corpora.sentences import split_sentences
from macroscope.critics.coreference.options import Domain
from macroscope.documents import Document


def is_within(domain: Domain | None) -> Callable[[Document], bool]:
    """Make the function that tells whether a document is in a domain; all are in none."""
    if domain is None:
        return lambda document: True
    pattern = re.compile(domain.pattern, re.DOTALL)
    words, without = (
        [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in some] for some in (domain.words, domain.without)
    )

    def within(document: Document) -> bool:
        text = _part(document, domain.within)
        wanted = all(word.search(text) for word in words) and not any(word.search(text) for word in without)
        return bool(wanted and pattern.match(text))

    return within


def _part(document: Document, within: str) -> str:
    if within == "text":
        return document.text
    section = document.sections[0].text
    return section if within == "first_section" else next(iter(split_sentences(section)), "").rstrip()
