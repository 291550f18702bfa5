"""Texts and types of document sections."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from macroscope.documents import Document, read_documents
from macroscope.errors import MacroscopeError

BEGIN, END = "<begin>", "<end>"
"""Names of the begin and end states, in tables and figures."""


def get_gold_types(document: Document) -> list[str] | None:
    """Return the section titles of a document as section types, or None if a section has no title."""
    titles = [section.title for section in document.sections]
    return None if any(not title for title in titles) else [str(title) for title in titles]


def read_gold_sequences(path: Path, split: str) -> list[list[str]]:
    """Read the section types of all fully titled documents of a split."""
    sequences = [types for document in read_documents(path, split) if (types := get_gold_types(document)) is not None]
    if not sequences:
        raise MacroscopeError(
            f"{path}: no document of split '{split}' has section titles, but the coherence critic learns from them;"
            " give the reference documents titled sections, or give more documents"
        )
    return sequences


def rank_section_types(sequences: Iterable[Sequence[str]]) -> list[str]:
    """List the distinct section types, the most frequent first; ties in alphabetical order."""
    counts = Counter(name for sequence in sequences for name in sequence)
    return sorted(counts, key=lambda name: (-counts[name], name))


def read_labelled_sections(path: Path, split: str) -> tuple[list[str], list[str], np.ndarray]:
    """Read texts and types of all titled sections of a split, and the index of each section's document."""
    sections = [
        (section.text, section.title, document_number)
        for document_number, document in enumerate(read_documents(path, split))
        for section in document.sections
        if section.title
    ]
    return (
        [text for text, *_ in sections],
        [title for _, title, _ in sections],
        np.array([n for *_, n in sections], dtype=int),
    )


def sample_subset(types: Sequence[str], size: int | None, seed: int) -> np.ndarray:
    """Sample indices of sections without replacement, in random order, with at least one section of every type.

    Parameters
    ----------
    types
        Type of each section.
    size
        Number of sections to sample; None: all.
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
