"""Samples of models over words: draws that are read as documents, invalid ones drawn again, everything counted."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from macroscope.documents import Count, Document, Provenance, Section
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidDraw, parse_draw, reasons
from macroscope.systems.words import join_words

Draw = Callable[[int, np.random.Generator], Iterable[tuple[Sequence[str], bool]]]
"""Words of so many texts, and whether each was cut off before its end."""

BLOCK = 4096
"""Samples that are drawn together, from random numbers of their own."""


@dataclass(frozen=True)
class Wanted:
    """What is to be drawn.

    Attributes
    ----------
    system
        Name of the system, which the samples are named after.
    samples
        Number of valid samples.
    titles
        Whether a section begins with its title.
    max_tokens
        Words of the longest sample.
    remedy
        What to do where most draws are invalid, for the message.
    """

    system: str
    samples: int
    titles: bool
    max_tokens: int
    remedy: str


@dataclass
class _Tally:
    """What happened while sampling."""

    invalid: Counter[str]
    cut: int = 0
    empty_sections: int = 0
    sections: int = 0
    given_up: int = 0


def sampled_documents(draw: Draw, wanted: Wanted, provenance: Provenance, seed: int) -> Iterator[Document]:
    """All samples, block by block; the counts go into the provenance at the end.

    Raises
    ------
    MacroscopeError
        Where more than half of the samples had nothing but invalid draws.
    """
    tally = _Tally(Counter())
    with Progress(f"sample {wanted.system}", wanted.samples, "samples") as bar:
        for block, start in enumerate(range(0, wanted.samples, BLOCK)):
            indices = range(start, min(start + BLOCK, wanted.samples))
            for index, sections in _block(draw, wanted, indices, (seed, block), tally):
                yield Document(f"{wanted.system}-{index:07d}", "test", None, sections)
            bar.advance(len(indices))
    if tally.given_up > wanted.samples / 2:
        raise MacroscopeError(
            f"system {wanted.system}: {tally.given_up} of {wanted.samples} samples had {ATTEMPTS} invalid draws in a"
            f" row; {wanted.remedy}"
        )
    provenance.counts.extend(_counts(tally, wanted))


def _counts(tally: _Tally, wanted: Wanted) -> list[Count]:
    valid = wanted.samples - tally.given_up
    return [
        *(Count(reason, valid, tally.invalid[reason], "draws") for reason in reasons(wanted.titles)),
        Count(f"{ATTEMPTS} invalid draws in a row", valid, tally.given_up, "samples"),
        Count("section without text", tally.sections, tally.empty_sections, "sections"),
        Count(f"end of a sample beyond {wanted.max_tokens} tokens", valid - tally.cut, tally.cut, "ends of samples"),
    ]


def _block(
    draw: Draw, wanted: Wanted, indices: range, key: tuple[int, int], tally: _Tally
) -> Iterator[tuple[int, tuple[Section, ...]]]:
    """Valid samples of a block, in their order; invalid draws are drawn again."""
    seed, block = key
    found: dict[int, tuple[Section, ...]] = {}
    for attempt in range(ATTEMPTS):
        missing = [index for index in indices if index not in found]
        if not missing:
            break
        rng = np.random.default_rng([seed, zlib.crc32(wanted.system.encode()), block, attempt])
        for index, (words, cut) in zip(missing, draw(len(missing), rng), strict=True):
            sections = _read(words, cut, wanted.titles, tally)
            if sections:
                found[index] = sections
    tally.given_up += len(indices) - len(found)
    yield from sorted(found.items())


def _read(words: Sequence[str], cut: bool, titles: bool, tally: _Tally) -> tuple[Section, ...]:
    """Sections of a draw; none where it is invalid."""
    try:
        sections, empty = parse_draw(join_words(words), titles)
    except InvalidDraw as error:
        tally.invalid[str(error)] += 1
        return ()
    tally.cut += cut
    tally.empty_sections += empty
    tally.sections += len(sections)
    return sections
