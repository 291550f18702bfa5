"""Limits of collections that their profile shows: too few texts, other lengths, texts that occur again."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Protocol

from macroscope.criticize.shared_openings import describe_shared_openings
from macroscope.phrases import choose_form, format_count, group_names, list_names, of_each
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, minimum_detectable_auc
from macroscope.statistics.document_groups import FEWEST_PROMPTS

_LARGE_AUC = 0.65
"""Detectability that only clear differences have; collections that show no smaller one are called few."""
_OTHER_LENGTH = 2.0
"""Ratio of median lengths from which on length alone tells texts apart."""
_MANY_REPEATED = 0.5
_MANY_EMPTY = 0.1
"""Share of records without text from which on the verdict is about a part of what a model wrote."""


MISSING_VALUES = frozenset(("nan", "none", "null", "na", "n/a", "#n/a", "<na>"))
"""Texts, in lower case, that programs write for a missing value."""


class Texts(Protocol):
    """The properties of a collection that limit a comparison (`profile.Profile`)."""

    name: str
    words: list[int]
    prompts: list[int]
    openings: list[int]
    texts: list[int]
    missing: int

    @property
    def without_text(self) -> int:
        """Return the number of records without a text."""


def independent(texts: Texts) -> int:
    """Return the number of texts of which each says something of its own: those of a prompt count as one."""
    prompts = len(set(texts.prompts))
    return prompts if prompts >= FEWEST_PROMPTS else len(texts.words)


def _has_few(texts: Texts) -> bool:
    """Return whether texts share prompts, of which there are too few."""
    prompts = len(set(texts.prompts))
    return prompts < FEWEST_PROMPTS and prompts < len(texts.words)


def describe_limits(reference: Texts, candidates: Sequence[Texts]) -> list[str]:
    """Return sentences for the user about what cannot be found, or would be found whatever the texts' structure."""
    collections = (reference, *candidates)
    missing = [sentence for each in collections for sentence in (*_describe_missing(each), *_describe_empty(each))]
    if not reference.words:  # collections without texts are an error of their own
        return missing
    candidates = [candidate for candidate in candidates if candidate.words]
    return [
        *missing,
        *_describe_sizes(independent(reference), {each.name: independent(each) for each in candidates}),
        *_describe_lengths(median(reference.words), {each.name: median(each.words) for each in candidates}),
        *(sentence for candidate in candidates for sentence in _describe_copies(reference, candidate)),
        *_describe_prompts({each.name: len(set(each.prompts)) for each in (reference, *candidates) if _has_few(each)}),
        *describe_shared_openings({each.name: (each.openings, each.prompts) for each in (reference, *candidates)}),
    ]


def _describe_missing(collection: Texts) -> Iterator[str]:
    if number := collection.missing:
        are = choose_form(number, "is only a mark", "are only marks")
        count = choose_form(number, "counts as a text. Leave it", "count as texts. Leave them")
        yield (
            f"{format_count(number, 'text')} of {collection.name} {are} of a missing value, such as NaN or None, and"
            f" {count} out."
        )


def _describe_empty(collection: Texts) -> Iterator[str]:
    empty, records = collection.without_text, collection.without_text + len(collection.words)
    if empty >= _MANY_EMPTY * records and empty:
        yield (
            f"{empty:,} of {format_count(records, 'record')} of {collection.name} have no text and are left out: the"
            " verdict is about the others. If the model wrote nothing there, report that beside it."
        )


def _describe_prompts(prompts: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence about collections with several texts of each of few prompts."""
    for number, names in group_names(prompts).items():
        yield (
            f"{format_count(number, 'prompt')} {of_each(names)} {choose_form(number, 'is', 'are')} too few to say"
            " anything of texts of other prompts. Each text counts, and the results hold for"
            f" {choose_form(number, 'this prompt', 'these prompts')} alone."
        )


def _describe_sizes(real: int, sizes: Mapping[str, int]) -> Iterator[str]:
    for number, names in group_names(sizes).items():
        counted = f"{format_count(real, 'real text')} and {number:,} {of_each(names)}"
        auc = minimum_detectable_auc(real, number)
        if min(real, number) < FEWEST_DOCUMENTS:
            yield (
                f"With {counted}, no critic gives a verdict: it needs {FEWEST_DOCUMENTS} on each side. Give more texts."
            )
        elif auc >= _LARGE_AUC:
            yield (
                f"With {counted}, most differences stay inconclusive: only a detectability of {auc:.0%} or more is"
                " likely to be found. Give more texts."
            )


def _describe_lengths(real: float, lengths: Mapping[str, float]) -> Iterator[str]:
    others = [
        f"{length:,.0f} in {name}"
        for name, length in lengths.items()
        if max(real, length) >= _OTHER_LENGTH * max(1, min(real, length))
    ]
    if others:
        yield (
            f"The median text has {real:,.0f} words in the reference, and {list_names(others)}: length alone may tell"
            " them apart. Add --matched-length, or give texts of one length."
        )


def _describe_copies(reference: Texts, candidate: Texts) -> Iterator[str]:
    repeated = len(candidate.texts) - len(set(candidate.texts))
    if repeated >= _MANY_REPEATED * len(candidate.texts):
        occur = choose_form(repeated, "occurs", "occur")
        yield (
            f"{repeated:,} of {format_count(len(candidate.texts), 'text')} of {candidate.name} {occur} again, word for"
            " word: repetitions count as independent, and are not. Leave them out, or give those of a prompt the same"
            " 'prompt'."
        )
    copied = len(set(candidate.texts) & set(reference.texts))
    if copied >= _MANY_REPEATED * len(set(candidate.texts)):
        are = choose_form(copied, "is", "are")
        yield (
            f"{format_count(copied, 'text')} of {candidate.name} {are} in the reference, word for word: no critic tells"
            " copies apart. Check the files."
        )
