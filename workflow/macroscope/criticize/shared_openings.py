"""Texts that begin alike and may be of one prompt, which nothing in their file says."""

import logging
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from macroscope.document_keys import shared_id, split_key
from macroscope.documents import Document
from macroscope.phrases import format_count, list_names

log = logging.getLogger("macroscope")

MANY_SHARE = 0.2
"""Share of the texts from which on texts that begin alike may be of one prompt."""


def describe_shared_openings(
    collections: Mapping[str, tuple[Sequence[Hashable], Sequence[Hashable]]],
) -> list[str]:
    """Return a sentence for the user if many texts of collections begin alike without being of one prompt.

    Parameters
    ----------
    collections
        Name of each -> openings and prompts of its texts; see `count_shared_openings`.
    """
    counts = {
        name: (len(openings), *count_shared_openings(openings, prompts))
        for name, (openings, prompts) in collections.items()
    }
    alike = [
        f"{texts:,} of {format_count(documents, 'text')} of {name}, with {format_count(shared, 'opening')}"
        for name, (documents, shared, texts) in counts.items()
        if is_many(texts, documents)
    ]
    if not alike:
        return []
    return [
        f"Texts that begin alike count as independent: {list_names(alike)}. If each opening is a prompt, give it: a"
        " field 'prompt', or --prompt-field."
    ]


def warn_of_shared_openings(name: str, documents: Sequence[Document]) -> None:
    """Warn if many texts of a collection begin alike without being of one prompt."""
    keys = [split_key(document.opening) for document in documents]
    openings = [first_words for _, first_words in keys]
    prompts = [prompt or shared_id(document.id) for (prompt, _), document in zip(keys, documents, strict=True)]
    for sentence in describe_shared_openings({name: (openings, prompts)}):
        log.warning("%s", sentence)


def count_shared_openings(openings: Sequence[Hashable], prompts: Sequence[Hashable]) -> tuple[int, int]:
    """Return the number of openings that texts of different prompts share, and of these texts.

    Parameters
    ----------
    openings
        First words of each text, or a hash of them; a false value for none.
    prompts
        What each text has in common with the others of its prompt.
    """
    counts = Counter(opening for opening, _ in {*zip(openings, prompts, strict=True)} if opening)
    shared = {opening for opening, number in counts.items() if number > 1}
    return len(shared), sum(opening in shared for opening in openings)


def is_many(texts: int, documents: int) -> bool:
    """Return whether so many texts of a collection begin alike that they may be continuations of one prompt."""
    return bool(texts) and texts >= MANY_SHARE * documents
