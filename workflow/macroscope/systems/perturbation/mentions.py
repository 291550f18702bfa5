"""Perturbations of mentions: names of other entities, and pronouns of the wrong gender.

Names are found without a trained model: sequences of capitalised words that a document has more than once, and not only
at the beginning of sentences. A name that is part of a longer one ("Curie" of "Marie Curie") denotes the same entity.

Pronouns are English. "Her" becomes "his" before a noun and "him" elsewhere; "his" becomes "her" before a noun and
"hers" elsewhere. There is no trained model; the following word decides: punctuation, the end of the text, or a stop
word that cannot begin a noun phrase ("told her that") means "elsewhere". So "gave her money" becomes "gave his money",
not "gave him money".
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from macroscope.documents import Document
from macroscope.natural_language.languages import ENGLISH, LANGUAGES, name_of
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import stop_words
from macroscope.systems.perturbation.declaration import Touch, declare, replace_some, sample_cycle
from macroscope.systems.perturbation.pieces import Place, match_case, regroup, replace_texts

Entity = tuple[str, ...]
"""Names of one entity, the longest first."""

_WORD = re.compile(r"\w+(?:-\w+)*(?:['’](?=[A-ZÀ-ÖØ-Þ])\w+)?")
_BEGINNING = re.compile(r"""(?:^|[.!?:]["”’)]*\s+|["“‘«(])\W*$""")
"""Text before a word whose capital is not informative: the beginning of a sentence, or of speech within it."""
_LONGEST_ABBREVIATION = 3
_REACH = 20
"""Number of characters before a word that are examined."""
_NO_NAMES = frozenset(
    "I January February March April May June July August September October November December"
    " Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
)
"""English words that are always capitalised but are not names."""
_SWAPPED = {
    "he": "she",
    "she": "he",
    "him": "her",
    "hers": "his",
    "himself": "herself",
    "herself": "himself",
}
_POSSESSIVE = {"her": ("his", "him"), "his": ("her", "hers")}
"""Replacements before a noun, and elsewhere."""
_MODIFIERS = frozenset(
    ["few", "more", "most", "no", "not", "now", "once", "only", "other", "own", "same", "then", "very"]
)
"""Stop words that may stand between a possessive and its noun."""

_PRONOUN = re.compile(r"(?<![\w-])(?:he|she|him|her|his|hers|himself|herself)(?![\w-])", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[^\S\n]+[\"'“‘(]?(\w+)")


def _lacks_capitals(language: str, **options: Any) -> str | None:
    if language != "de" and LANGUAGES[language].has_capitals:
        return None
    return (
        f"names are recognized by their capitals, which do not distinguish them in {name_of(language)}; omit the step"
    )


def _lacks_pronouns(language: str, **options: Any) -> str | None:
    if language == ENGLISH:
        return None
    return f"only English pronouns are known, not those of {name_of(language)}; omit the step"


@declare("words", keeps_length=True, dose=0.5, position="end", twin="replace_synonyms", lacks=_lacks_capitals)
def swap_entities(document: Document, touch: Touch) -> Document:
    """Permute the proper names in the last sentences of a document (he2023: named entity switching).

    Every entity is consistently replaced by another one: its longest name by the longest name of the other, its short
    names by the other's short name. The dose is the share of the sentences, from the end, whose names change. A
    document with fewer than two entities is unchanged.
    """
    pieces = [split_sentences(section.text, touch.language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    entities = find_entities(sentences)
    if len(entities) < 2:
        return document
    permutation = sample_cycle(len(entities), touch.rng)
    replacements = {
        name: new[0] if name == entity[0] else new[-1]
        for entity, new in zip(entities, (entities[index] for index in permutation), strict=True)
        for name in entity
    }
    pattern = _match_any(replacements)
    start = round((1 - touch.dose) * len(sentences))
    changed = [pattern.sub(lambda match: replacements[match.group()], sentence) for sentence in sentences[start:]]
    return replace_texts(document, regroup([*sentences[:start], *changed], map(len, pieces)))


def find_entities(sentences: Sequence[str]) -> list[Entity]:
    """Find the entities that are named at least twice, in alphabetical order of their longest names."""
    candidates = sorted({name for sentence in sentences for name in _find_capitalised(sentence)})
    if not candidates:
        return []
    pattern = _match_any(candidates)
    counts = Counter(name for sentence in sentences for name in pattern.findall(sentence))
    entities: list[list[str]] = []
    for name in sorted(candidates, key=lambda name: (-len(name.split()), -counts[name], name)):
        words = set(name.split())
        entity_of_name = next((entity for entity in entities if words < set(entity[0].split())), None)
        if entity_of_name is None:
            entities.append([name])
        else:
            entity_of_name.append(name)
    return sorted(tuple(entity) for entity in entities if sum(counts[name] for name in entity) > 1)


def _find_capitalised(sentence: str) -> Iterator[str]:
    """Yield sequences of capitalised words, except those whose first word is capitalised because of its position."""
    start = end = 0  # of the current sequence; empty if there is none
    for match in _WORD.finditer(sentence):
        word = match.group()
        if not word[0].isupper() or word in _NO_NAMES:
            continue
        if start < end and _is_continued(sentence[start:end], sentence[end : match.start()]):
            end = match.end()
            continue
        if start < end and not _is_capitalised_by_position(sentence, start):
            yield sentence[start:end]
        start, end = match.span()
    if start < end and not _is_capitalised_by_position(sentence, start):
        yield sentence[start:end]


def _is_capitalised_by_position(sentence: str, start: int) -> bool:
    # The reach is enough for the marks between two words, and avoids searching a long sentence once per name.
    return _BEGINNING.search(sentence, max(0, start - _REACH), start) is not None


def _is_continued(name: str, gap: str) -> bool:
    """Check whether a name continues after a gap: a space, or ". " after an initial or a title ("Dr.")."""
    return gap == " " or (gap == ". " and len(name.split()[-1]) <= _LONGEST_ABBREVIATION)


def _match_any(names: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


@declare("words", keeps_length=True, dose=1.0, twin="replace_synonyms", lacks=_lacks_pronouns)
def swap_pronouns(document: Document, touch: Touch) -> Document:
    """Swap he and she, him and her, his and her, himself and herself; for English only."""
    listed = stop_words(touch.language)

    def find(text: str) -> list[Place]:
        return [
            (*match.span(), match_case(_swap(match.group().lower(), text, match.end(), listed), match.group()))
            for match in _PRONOUN.finditer(text)
        ]

    return replace_some(document, touch, find)


def _swap(pronoun: str, text: str, end: int, stop_words: Collection[str]) -> str:
    """Return the pronoun of the other gender, given the text after `end`."""
    if pronoun in _SWAPPED:
        return _SWAPPED[pronoun]
    before_noun, elsewhere = _POSSESSIVE[pronoun]
    word = _NEXT_WORD.match(text, end)
    if word is None:
        return elsewhere
    lowered = word.group(1).lower()
    return before_noun if lowered in _MODIFIERS or lowered not in stop_words else elsewhere
