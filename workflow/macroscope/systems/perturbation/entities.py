"""Perturbation of proper names: who did what is told of another one, from some sentence on.

Names are found without a trained model: sequences of capitalised words that a document has more than once, and not only
at the beginning of sentences. A name that is part of a longer one ("Curie" of "Marie Curie") is the same entity's.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from macroscope.corpora.plain_text import split_sentences
from macroscope.documents import Document
from macroscope.systems.perturbation.halves import random_cycle
from macroscope.systems.perturbation.pieces import regrouped, with_texts

Entity = tuple[str, ...]
"""Names of one entity, the longest first."""

_WORD = re.compile(r"\w+(?:-\w+)*(?:['’](?=[A-ZÀ-ÖØ-Þ])\w+)?")
_BEGINNING = re.compile(r"""(?:^|[.!?:]["”’)]*\s+|["“‘«(])\W*$""")
"""What stands before a word whose capital says nothing: the beginning of a sentence, or of speech within it."""
_LONGEST_ABBREVIATION = 3
_REACH = 20
"""Characters before a word that are looked at."""
_NO_NAMES = frozenset(
    "I January February March April May June July August September October November December"
    " Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
)
"""English words that are always capitalised, and name nobody."""


def swap_entities(document: Document, after: float, language: str, rng: np.random.Generator) -> Document:
    """Exchange the names of a document with one another; one with fewer than two entities stays as it is.

    Every entity becomes another one, the same throughout; its short names become the other's short name.

    Parameters
    ----------
    after
        Share of the sentences that keep their names.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    entities = find_entities(sentences)
    if len(entities) < 2:
        return document
    partners = random_cycle(len(entities), rng)
    exchanged = {
        name: other[0] if name == entity[0] else other[-1]
        for entity, other in zip(entities, (entities[partner] for partner in partners), strict=True)
        for name in entity
    }
    pattern = _any_of(exchanged)
    start = round(after * len(sentences))
    changed = [pattern.sub(lambda found: exchanged[found.group()], sentence) for sentence in sentences[start:]]
    return with_texts(document, regrouped([*sentences[:start], *changed], map(len, pieces)))


def find_entities(sentences: Sequence[str]) -> list[Entity]:
    """Entities that are named at least twice, in alphabetical order of their longest names."""
    candidates = sorted({name for sentence in sentences for name in _capitalised(sentence)})
    if not candidates:
        return []
    pattern = _any_of(candidates)
    counts = Counter(found for sentence in sentences for found in pattern.findall(sentence))
    entities: list[list[str]] = []
    for name in sorted(candidates, key=lambda name: (-len(name.split()), -counts[name], name)):
        words = set(name.split())
        same = next((entity for entity in entities if words < set(entity[0].split())), None)
        if same is None:
            entities.append([name])
        else:
            same.append(name)
    return sorted(tuple(entity) for entity in entities if sum(counts[name] for name in entity) > 1)


def _capitalised(sentence: str) -> Iterator[str]:
    """Sequences of capitalised words, but for those whose first word is capitalised for where it stands."""
    start = end = 0  # of the sequence at hand; empty where there is none
    for found in _WORD.finditer(sentence):
        word = found.group()
        if not word[0].isupper() or word in _NO_NAMES:
            continue
        if start < end and _continues(sentence[start:end], sentence[end : found.start()]):
            end = found.end()
            continue
        if start < end and not _says_nothing(sentence, start):
            yield sentence[start:end]
        start, end = found.span()
    if start < end and not _says_nothing(sentence, start):
        yield sentence[start:end]


def _says_nothing(sentence: str, start: int) -> bool:
    """Whether a word has a capital because of where it stands."""
    # Far enough for the marks between two words; a long sentence would else be searched again for each of its names.
    return _BEGINNING.search(sentence, max(0, start - _REACH), start) is not None


def _continues(name: str, gap: str) -> bool:
    """Whether a name goes on after a gap: a space, with a full stop before it after an initial or a title ("Dr.")."""
    return gap == " " or (gap == ". " and len(name.split()[-1]) <= _LONGEST_ABBREVIATION)


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
