"""Damages of collections, and of whole documents: parts of other documents, another order, a missing end.

Documents are paired by one random cycle through all of them, so that every part is used once and none stays in its
document. A random permutation would leave one document unchanged on average, whatever their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import Field

from macroscope.corpora.tokens import GPT2_PIECES, LocateTokens, make_token_locator
from macroscope.documents import Document, Section
from macroscope.natural_language.sentences import split_sentences
from macroscope.systems.perturbation.declaration import Touch, declare, sample_cycle
from macroscope.systems.perturbation.pieces import change_words, rearrange, replace_texts, round_share


@dataclass(frozen=True)
class Halves:
    """Halves of a document.

    Attributes
    ----------
    first, second
        Sections of each half; a section that contains the cut is in both, with its title.
    within
        Whether the cut is within a section, or the document has one section. Then the other half, if it is also cut
        within a section, continues that section. So a text of one section stays one section, and no document gains a
        section by the cut.
    """

    first: tuple[Section, ...]
    second: tuple[Section, ...]
    within: bool


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


@declare("documents", keeps_length=False, dose=0.5, position="beginning", twin="shuffle_documents", joins=True)
def swap_first_halves(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace the beginning of every text by that of another one, cut between sentences (pimentel2022: p_swap).

    The document keeps its id and title. By default, half of it is replaced; of an odd number of sentences, the middle
    one belongs to the second half.
    """
    parts = [_split_by_sentences(document, touch.language, touch.dose, rounded=_round_down) for document in documents]
    permutation = sample_cycle(len(documents), touch.rng)
    return [
        replace(document, sections=join(parts[index], part))
        for document, part, index in zip(documents, parts, permutation, strict=True)
    ]


@declare("documents", keeps_length=False, dose=0.5, position="end", twin="shuffle_documents", joins=True)
def drift_topic(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace the last sentences of every text by those of another one."""
    parts = [_split_by_sentences(document, touch.language, 1 - touch.dose, rounded=_round_up) for document in documents]
    permutation = sample_cycle(len(documents), touch.rng)
    return [
        replace(document, sections=join(part, parts[index]))
        for document, part, index in zip(documents, parts, permutation, strict=True)
    ]


@declare("documents", keeps_length=False, dose=0.5, position="end", twin="shuffle_documents", joins=True)
def splice_documents(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace the last sections of every document by those of another one.

    The document keeps its id and title. By default, half of it is replaced; of an odd number of sections, the middle
    one belongs to the first half. A document of one section is divided by sentences in the same way.
    """
    parts = [_split_by_sections(document, touch.language, 1 - touch.dose) for document in documents]
    permutation = sample_cycle(len(documents), touch.rng)
    return [
        replace(document, sections=join(part, parts[index]))
        for document, part, index in zip(documents, parts, permutation, strict=True)
    ]


@declare(
    "documents",
    keeps_length=True,
    dose=1.0,
    twin="move_paragraph_breaks",
    options={"words": (int, Field(50, ge=2, description="Number of words of a block."))},
)
def shuffle_blocks(document: Document, touch: Touch, words: int = 50) -> Document:
    """Put blocks of words of a text in random order, across its sections."""

    def shuffle(pieces: list[str]) -> list[str]:
        starts = range(0, len(pieces), words)
        blocks = [list(range(start, min(start + words, len(pieces)))) for start in starts]
        order = [number for block in touch.rearrange(len(blocks)).tolist() for number in blocks[block]]
        return rearrange(pieces, order)

    return change_words(document, shuffle)


@declare(
    "documents",
    keeps_length=False,
    dose=2 / 3,
    position="end",
    twin="shuffle_documents",
    drops_sections=True,
    options={
        "words": (
            int | None,
            Field(None, ge=1, description="Number of words that are kept instead of a share (the paper's code: 170)."),
        ),
        "tokens": (
            int | None,
            Field(None, ge=1, description="Number of tokens that are kept instead of a share (pimentel2022: 512)."),
        ),
        "tokenizer": (
            str,
            Field(GPT2_PIECES, description="Tokenizer of `tokens`, as a corpus's filters.length_tokenizer."),
        ),
    },
)
def truncate(
    document: Document,
    touch: Touch,
    words: int | None = None,
    tokens: int | None = None,
    tokenizer: str = GPT2_PIECES,
) -> Document:
    """Remove the end of every text, and the sections beyond; the dose is the share of words (pimentel2022: p_short)."""
    if tokens is not None:
        return _truncate_tokens(document, tokens, make_token_locator(tokenizer))

    def cut(pieces: list[str]) -> list[str]:
        kept = min(len(pieces), words) if words is not None else round_share(1 - touch.dose, len(pieces))
        return [*pieces[:kept], *[""] * (len(pieces) - kept)]

    shortened = change_words(document, cut)
    return document if shortened.text == document.text else _strip_last(shortened)


def _truncate_tokens(document: Document, tokens: int, locate: LocateTokens) -> Document:
    texts, left = [], tokens
    for section in document.sections:
        ends = locate(section.text)
        texts.append(section.text if len(ends) <= left else section.text[: ends[left - 1] if left else 0])
        left -= min(left, len(ends))
    return replace_texts(document, texts)


def _strip_last(document: Document) -> Document:
    *texts, last = (section.text for section in document.sections)
    return replace_texts(document, [*texts, last.rstrip()])


def _split_by_sentences(
    document: Document, language: str, share: float, rounded: Callable[[float, int], int]
) -> Halves:
    """Split a document after a share of its sentences.

    Parameters
    ----------
    rounded
        Function of the share of the sentences, as a number, and of their number: the sentences before the cut.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    total = sum(map(len, pieces))
    remaining = rounded(share * total, total)
    first, second = [], []
    within = len(document.sections) == 1
    for section, sentences in zip(document.sections, pieces, strict=True):
        if remaining >= len(sentences):
            first.append(section)
        elif remaining <= 0:
            second.append(section)
        else:
            within = True
            first.append(Section(section.title, "".join(sentences[:remaining]).rstrip()))
            second.append(Section(section.title, "".join(sentences[remaining:])))
        remaining -= len(sentences)
    return Halves(tuple(first), tuple(second), within)


def _split_by_sections(document: Document, language: str, share: float) -> Halves:
    """Split a document after a share of its sections, or of its sentences if it has one section."""
    if len(document.sections) == 1:
        return _split_by_sentences(document, language, share, rounded=_round_up)
    cut = _round_up(share * len(document.sections), len(document.sections))
    return Halves(document.sections[:cut], document.sections[cut:], within=False)


def _round_up(number: float, n: int) -> int:
    """Round up a number of places before a cut; of several, one at least is behind it."""
    return min(int(np.ceil(_near_whole(number))), max(n - 1, 1))


def _round_down(number: float, n: int) -> int:
    """Round down a number of places before a cut; of several, one at least is before it."""
    return max(int(np.floor(_near_whole(number))), min(n - 1, 1))


def _near_whole(number: float) -> float:
    """Return a number without the error of its last digits, so that 0.7 of 10 is 7."""
    return round(number, 9)


def join(begin: Halves, end: Halves) -> tuple[Section, ...]:
    """Join the first half of one document to the second half of another."""
    first, second = begin.first, end.second
    if not (begin.within and end.within and first and second):
        return first + second
    # The section in the middle keeps the title of its beginning.
    middle = Section(first[-1].title, f"{first[-1].text} {second[0].text}")
    return (*first[:-1], middle, *second[1:])
