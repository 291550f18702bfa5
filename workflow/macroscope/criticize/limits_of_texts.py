"""Limits of collections that their profile shows: few texts, other lengths, repeated texts, prompts, pairs by place."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from statistics import median
from typing import Protocol

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
_MANY_OPENINGS = 0.2
"""Share of the texts from which on texts that begin alike may be of one prompt."""
MISSING_VALUES = frozenset(("nan", "none", "null", "na", "n/a", "#n/a", "<na>"))
"""Texts, in lower case, that programs write for a missing value."""


class Texts(Protocol):
    """The properties of a collection that limit a comparison (`profile.Profile`)."""

    name: str
    words: list[int]
    prompts: list[int]
    openings: list[int]
    texts: list[int]
    ids_by_place: set[int]
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


def count_pairs_by_place(reference: Texts, candidate: Texts) -> int:
    """Return the number of texts without an id whose file, or its line, is called as that of a real text."""
    return len(reference.ids_by_place & candidate.ids_by_place)


def describe_pairs_by_place(reference: Texts, candidates: Sequence[Texts]) -> list[str]:
    """Return sentences for the user about texts that are paired by their places, and how to have them unpaired."""
    numbers = {
        candidate.name: count_pairs_by_place(reference, candidate)
        for candidate in candidates
        if not set(candidate.texts) <= set(reference.texts)  # else they are copies, which matters more
    }
    return [
        f"{format_count(number, 'text')} {of_each(names)} {choose_form(number, 'is', 'are')} paired with real texts by"
        f" {choose_form(number, 'its file name and line', 'their file names and lines')}, as if both"
        " continued one prompt. If they do not, call the file by another name, or put the files of one folder into a"
        " folder inside it."
        for number, names in group_names(numbers).items()
        if number
    ]


def describe_shared_openings(
    collections: Mapping[str, tuple[Sequence[Hashable], Sequence[Hashable]]],
) -> list[str]:
    """Return a sentence for the user if many texts of collections begin alike without being of one prompt.

    Parameters
    ----------
    collections
        Name of each -> openings and prompts of its texts; see `count_shared_openings`.
    """
    counts = {
        name: (len(openings), *count_shared_openings(openings, prompts))
        for name, (openings, prompts) in collections.items()
    }
    alike = [
        f"{texts:,} of {format_count(documents, 'text')} of {name}, with {format_count(shared, 'opening')}"
        for name, (documents, shared, texts) in counts.items()
        if is_many(texts, documents)
    ]
    if not alike:
        return []
    return [
        f"Texts that begin alike count as independent: {list_names(alike)}. If each opening is a prompt, give it: a"
        " field 'prompt', or --prompt-field."
    ]


def count_shared_openings(openings: Sequence[Hashable], prompts: Sequence[Hashable]) -> tuple[int, int]:
    """Return the number of openings that texts of different prompts share, and of these texts.

    Parameters
    ----------
    openings
        First words of each text, or a hash of them; a false value for none.
    prompts
        What each text has in common with the others of its prompt.
    """
    counts = Counter(opening for opening, _ in {*zip(openings, prompts, strict=True)} if opening)
    shared = {opening for opening, number in counts.items() if number > 1}
    return len(shared), sum(opening in shared for opening in openings)


def is_many(texts: int, documents: int) -> bool:
    """Return whether many texts of a collection have the same opening, as continuations of one prompt have."""
    return bool(texts) and texts >= _MANY_OPENINGS * documents
