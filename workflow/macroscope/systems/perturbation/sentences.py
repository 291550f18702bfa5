"""Damages of sentences and sections: order, repetition, removal, replacement, negation."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from macroscope.documents import Document, Section
from macroscope.natural_language.languages import LANGUAGES
from macroscope.natural_language.rewordings import lacks_rewordings, rewordings
from macroscope.natural_language.sentences import split_sentences
from macroscope.systems.perturbation.declaration import Touch, declare, pair_in_cycle
from macroscope.systems.perturbation.pieces import (
    change_paragraphs,
    change_sentences,
    change_words,
    rearrange,
    repeat_core,
    replace_core,
    replace_texts,
    round_share,
)


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


NGRAM = 4
"""Number of words that `repeat_last_ngram` repeats (he2023)."""


@declare("sentences", keeps_length=True, dose=1.0, twin="move_paragraph_breaks")
def shuffle_sentences(document: Document, touch: Touch) -> Document:
    """Put sentences of every section in random order; paragraphs keep their numbers of sentences."""
    texts = []
    for section in document.sections:
        sentences = split_sentences(section.text, touch.language)
        texts.append("".join(rearrange(sentences, touch.rearrange(len(sentences)) if len(sentences) > 1 else [0])))
    return replace_texts(document, texts)


@declare("sentences", keeps_length=True, dose=0.25, twin="move_paragraph_breaks")
def switch_sentences(document: Document, touch: Touch) -> Document:
    """Exchange sentences of a document with each other, across its sections (he2023: sentence switching)."""

    def switch(sentences: list[str]) -> Sequence[str]:
        return rearrange(sentences, touch.rearrange(len(sentences))) if len(sentences) > 1 else sentences

    return change_sentences(document, touch.language, switch)


@declare("sentences", keeps_length=False, dose=0.25, twin="replace_synonyms", joins=True)
def replace_sentences(documents: Sequence[Document], touch: Touch) -> list[Document]:
    """Replace sentences by sentences of another document (he2023: sentence replacement)."""
    partners = pair_in_cycle(documents, touch.rng)
    return [_replace_sentences(document, partner, touch) for document, partner in zip(documents, partners, strict=True)]


def _replace_sentences(document: Document, partner: Document, touch: Touch) -> Document:
    replacements = [text for section in partner.sections for text in split_sentences(section.text, touch.language)]

    def exchange(sentences: list[str]) -> Sequence[str]:
        chosen = touch.choose(len(sentences)).tolist()
        sources = touch.rng.choice(len(replacements), len(chosen), replace=len(chosen) > len(replacements)).tolist()
        for place, source in zip(chosen, sources, strict=True):
            sentences[place] = replace_core(sentences[place], replacements[source].strip())
        return sentences

    return change_sentences(document, touch.language, exchange)


@declare("sentences", keeps_length=False, dose=0.25, twin="move_paragraph_breaks")
def repeat_sentences(document: Document, touch: Touch) -> Document:
    """Repeat sentences of every document immediately."""

    def repeat(sentences: list[str]) -> Sequence[str]:
        for number in touch.choose(len(sentences)).tolist():
            sentences[number] = repeat_core(sentences[number])
        return sentences

    return change_sentences(document, touch.language, repeat)


@declare("sentences", keeps_length=False, dose=0.25, twin="move_paragraph_breaks")
def repeat_paragraphs(document: Document, touch: Touch) -> Document:
    """Repeat paragraphs of every document immediately."""

    def repeat(paragraphs: list[str]) -> Sequence[str]:
        for number in touch.choose(len(paragraphs)).tolist():
            paragraphs[number] = repeat_core(paragraphs[number], "\n")
        return paragraphs

    return change_paragraphs(document, repeat)


@declare("sentences", keeps_length=False, dose=0.1, position="end", twin="move_paragraph_breaks")
def repeat_last_ngram(document: Document, touch: Touch) -> Document:
    """Repeat the last four words of every text until the dose's share of its words is added (he2023: repetition)."""
    between = " " if LANGUAGES[touch.language].has_spaces else ""

    def repeat(words: list[str]) -> Sequence[str]:
        last = between.join(word.strip() for word in words[-NGRAM:])
        times = max(1, round(touch.dose * len(words) / NGRAM))
        return [*words[:-1], replace_core(words[-1], between.join([words[-1].strip(), *[last] * times]))]

    return change_words(document, repeat)


@declare(
    "sentences",
    keeps_length=False,
    dose=0.25,
    highest=0.5,
    twin="move_paragraph_breaks",
    drops_sections=True,
    position="anywhere but the ends",
    options={
        "number": (
            int | None,
            Field(
                None,
                ge=1,
                description="Number of sentences instead of a share (paper: 1); as many as possible if a document is"
                " too short.",
            ),
        )
    },
)
def remove_sentences(document: Document, touch: Touch, number: int | None = None) -> Document:
    """Remove random sentences of every document, not the first or last one nor two adjacent ones (cai2020: MSD).

    All choices are equally likely. If there are too few sentences, as many as possible are removed.
    """

    def remove(sentences: list[str]) -> Sequence[str]:
        removed = number if number is not None else round_share(touch.dose, len(sentences))
        for place in 1 + sample_non_adjacent(len(sentences) - 2, removed, touch.rng):
            # A paragraph that loses its last sentence keeps the line break; one that loses its only sentence loses it.
            is_last, is_only = sentences[place].endswith("\n"), sentences[place - 1].endswith("\n")
            sentences[place] = "\n" if is_last and not is_only else ""
        return sentences

    changed = change_sentences(document, touch.language, remove)
    return replace_texts(changed, (section.text.strip() for section in changed.sections))


@declare(
    "sentences",
    keeps_length=True,
    dose=0.25,
    twin="contract_words",
    lacks=lacks_rewordings("negations"),
)
def negate_sentences(document: Document, touch: Touch) -> Document:
    """Negate sentences, or affirm negated ones, at their first auxiliary verb (he2023: negation).

    The dose is a share of the sentences with such a verb.
    """
    negations = rewordings("negations", touch.language)

    def negate(sentences: list[str]) -> Sequence[str]:
        able = [number for number, sentence in enumerate(sentences) if negations.search(sentence)]
        for place in touch.choose(len(able)).tolist():
            sentences[able[place]] = negations.reword_first(sentences[able[place]])
        return sentences

    return change_sentences(document, touch.language, negate)


def sample_non_adjacent(places: int, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sample a number of places in a row, no two of them adjacent; all such choices are equally likely.

    Returns
    -------
    array
        Sorted places; fewer than `number` if there are fewer than 2 * number - 1 places.
    """
    number = min(number, max(0, (places + 1) // 2))
    # Choices of non-adjacent places correspond to arbitrary choices of fewer places, moved apart by one place each.
    chosen = np.sort(rng.permutation(max(0, places - number + 1))[:number])
    return np.asarray(chosen + np.arange(number), dtype=np.int64)
