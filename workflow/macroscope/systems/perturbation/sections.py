"""Perturbations of sections: their order, and whether they are there."""

from dataclasses import replace

import numpy as np

from macroscope.documents import Document
from macroscope.systems.perturbation.pieces import number_of


def shuffle_sections(document: Document, rng: np.random.Generator) -> Document:
    """Put the sections of a document in random order, each with its title; all orders are equally likely."""
    order = rng.permutation(len(document.sections))
    return replace(document, sections=tuple(document.sections[number] for number in order))


def drop_sections(document: Document, share: float, rng: np.random.Generator) -> Document:
    """Leave out a share of the sections, at least one, and never all: a document of one section stays as it is."""
    n = len(document.sections)
    if n < 2:
        return document
    dropped = min(n - 1, number_of(share, n))
    kept = sorted(rng.permutation(n)[dropped:])
    return replace(document, sections=tuple(document.sections[number] for number in kept))
