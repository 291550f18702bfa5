"""Damages of sections: order, removal, repetition, and sections of other documents."""

from collections.abc import Sequence
from dataclasses import replace

from macroscope.documents import Document, Section
from macroscope.systems.perturbation.declaration import Touch, declare, pair_in_cycle
from macroscope.systems.perturbation.pieces import round_share


@declare("sections", keeps_length=True, dose=1.0, twin="recase_headings")
def shuffle_sections(document: Document, touch: Touch) -> Document:
    """Put sections of a document in random order, each with its title."""
    n = len(document.sections)
    if n < 2:
        return document
    return _with_sections(document, [document.sections[number] for number in touch.rearrange(n)])


@declare("sections", keeps_length=False, dose=0.5, twin="recase_headings", drops_sections=True)
def drop_sections(document: Document, touch: Touch) -> Document:
    """Remove sections of every document, at least one and never all."""
    n = len(document.sections)
    if n < 2:
        return document
    dropped = set(touch.choose(n)[: min(n - 1, round_share(touch.dose, n))].tolist())
    return _with_sections(
        document, [section for number, section in enumerate(document.sections) if number not in dropped]
    )


@declare("sections", keeps_length=False, dose=0.25, twin="recase_headings")
def repeat_sections(document: Document, touch: Touch) -> Document:
    """Repeat sections of every document immediately, each with its title."""
    chosen = set(touch.choose(len(document.sections)).tolist())
    return _with_sections(
        document,
        [section for number, section in enumerate(document.sections) for _ in range(1 + (number in chosen))],
    )


@declare("sections", keeps_length=False, dose=0.25, twin="recase_headings", joins=True)
def replace_sections(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace the texts of sections by those of sections of another document; titles stay."""
    partners = pair_in_cycle(documents, touch.rng)
    return [_replace_sections(document, partner, touch) for document, partner in zip(documents, partners, strict=True)]


def _replace_sections(document: Document, partner: Document, touch: Touch) -> Document:
    if len(document.sections) < 2:
        return document
    sections = list(document.sections)
    for place in touch.choose(len(sections)).tolist():
        source = partner.sections[int(touch.rng.integers(len(partner.sections)))]
        sections[place] = Section(sections[place].title, source.text)
    return _with_sections(document, sections)


def _with_sections(document: Document, sections: Sequence[Section]) -> Document:
    return replace(document, sections=tuple(sections))
