"""The sections of documents as the coherence critic sees them: texts and types."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from macroscope.documents import Document, read_documents
from macroscope.errors import MacroscopeError

BEGIN, END = "<begin>", "<end>"
"""The states around the section types of a document, as tables and figures name them."""


def gold_types(document: Document) -> list[str] | None:
    """Section titles of a document as section types, or None where a section has no title."""
    titles = [section.title for section in document.sections]
    return None if any(not title for title in titles) else [str(title) for title in titles]


def titled_documents(path: Path, split: str) -> list[list[str]]:
    """Section types of the documents of a split, in order; at least one document has them.

    Raises
    ------
    MacroscopeError
        Where no document of the split has section titles: the critic has nothing to learn from.
    """
    sequences = [types for document in read_documents(path, split) if (types := gold_types(document)) is not None]
    if not sequences:
        raise MacroscopeError(
            f"{path}: no document of split '{split}' has section titles, and the coherence critic learns from them;"
            " give the reference documents titled sections, or more documents"
        )
    return sequences


def section_types(sequences: Iterable[Sequence[str]]) -> list[str]:
    """Distinct section types, the most frequent first; ties in alphabetical order."""
    counts = Counter(name for sequence in sequences for name in sequence)
    return sorted(counts, key=lambda name: (-counts[name], name))


def labelled_sections(path: Path, split: str) -> tuple[list[str], list[str], np.ndarray]:
    """Texts and types of all titled sections of a split, and the number of the document that each is in."""
    found = [
        (section.text, section.title, number)
        for number, document in enumerate(read_documents(path, split))
        for section in document.sections
        if section.title
    ]
    return [text for text, *_ in found], [title for _, title, _ in found], np.array([n for *_, n in found], dtype=int)


def subset(types: Sequence[str], size: int | None, seed: int) -> np.ndarray:
    """Indices of a random subset that keeps at least one section of every type, in random order.

    Parameters
    ----------
    types
        Type of each section.
    size
        Number of sections, or None for all of them.
    """
    order = np.random.default_rng(seed).permutation(len(types))
    if size is None or size >= len(types):
        return order
    first_of_type: dict[str, int] = {}
    for index in order:
        first_of_type.setdefault(types[index], int(index))
    needed = set(first_of_type.values())
    others = [int(index) for index in order if index not in needed]
    chosen = needed | set(others[: max(0, size - len(needed))])
    return np.array([index for index in order if index in chosen])
