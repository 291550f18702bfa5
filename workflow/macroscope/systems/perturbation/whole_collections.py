"""Damages of a collection: repeated documents, and documents of another collection."""

from collections.abc import Sequence
from dataclasses import replace

from macroscope.documents import Document, Section
from macroscope.systems.perturbation.declaration import Touch, declare


@declare("collection", keeps_length=False, dose=0.25, twin="shuffle_documents", joins=True)
def duplicate_documents(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace documents by copies of other documents of the collection; ids and titles stay.

    Each chosen document has the text of one that was not chosen, if there is one.
    """
    chosen = touch.choose(len(documents)).tolist()
    originals = sorted({*range(len(documents))} - {*chosen}) or list(range(len(documents)))
    sources = touch.rng.choice(originals, len(chosen)).tolist()
    changed = list(documents)
    for place, source in zip(chosen, sources, strict=True):
        changed[place] = replace(documents[place], sections=documents[source].sections)
    return changed


@declare("collection", keeps_length=False, dose=0.25, twin="shuffle_documents", joins=True)
def scramble_documents(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace documents by collages: every section's text is that of a section of a random document."""
    changed = list(documents)
    for place in touch.choose(len(documents)).tolist():
        sections = []
        for section in documents[place].sections:
            donor = documents[int(touch.rng.integers(len(documents)))]
            source = donor.sections[int(touch.rng.integers(len(donor.sections)))]
            sections.append(Section(section.title, source.text))
        changed[place] = replace(documents[place], sections=tuple(sections))
    return changed
