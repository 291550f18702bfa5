"""Limits of collections that their profile shows: too few texts, other lengths, texts that occur again."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Protocol

from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, minimum_detectable_auc
from macroscope.statistics.pairing_keys import FEWEST_PROMPTS

_LARGE_AUC = 0.65
"""Detectability that only clear differences have; collections that show no smaller one are called few."""
_OTHER_LENGTH = 2.0
"""Ratio of median lengths from which on length alone tells texts apart."""
_MANY_REPEATED = 0.5


class Texts(Protocol):
    """The properties of a collection that limit a comparison (`profile.Profile`)."""

    name: str
    words: list[int]
    prompts: list[int]
    texts: list[int]


def independent(texts: Texts) -> int:
    """Return the number of texts of which each says something of its own: those of a prompt count as one."""
    prompts = len(set(texts.prompts))
    return prompts if prompts >= FEWEST_PROMPTS else len(texts.words)


def describe_limits(reference: Texts, candidates: Sequence[Texts]) -> list[str]:
    """Return sentences for the user about what cannot be found, or would be found whatever the texts' structure."""
    return [
        sentence
        for candidate in candidates
        if reference.words and candidate.words  # collections without texts are an error of their own
        for sentence in _limits(reference, candidate)
    ]


def _limits(reference: Texts, candidate: Texts) -> Iterator[str]:
    sizes = independent(reference), independent(candidate)
    auc = minimum_detectable_auc(*sizes)
    counted = f"{sizes[0]:,} real texts and {sizes[1]:,} of {candidate.name}"
    if min(sizes) < FEWEST_DOCUMENTS:
        yield f"With {counted}, no critic gives a verdict: it needs {FEWEST_DOCUMENTS} on each side. Give more texts."
    elif auc >= _LARGE_AUC:
        yield (
            f"With {counted}, most differences stay inconclusive: only a detectability of {auc:.0%} or more is"
            " likely to be found. Give more texts."
        )
    lengths = median(reference.words), median(candidate.words)
    if max(lengths) >= _OTHER_LENGTH * max(1, min(lengths)):
        yield (
            f"The median text of {candidate.name} has {lengths[1]:,.0f} words, and that of the reference"
            f" {lengths[0]:,.0f}: length alone may tell them apart. Add --matched-length, or give texts of one length."
        )
    repeated = len(candidate.texts) - len(set(candidate.texts))
    if repeated >= _MANY_REPEATED * len(candidate.texts):
        yield (
            f"{repeated:,} of {len(candidate.texts):,} texts of {candidate.name} occur again, word for word: they count"
            " as independent, and are not. Leave repetitions out, or give those of a prompt the same 'prompt'."
        )
    copied = len(set(candidate.texts) & set(reference.texts))
    if copied >= _MANY_REPEATED * len(set(candidate.texts)):
        yield (
            f"{copied:,} texts of {candidate.name} are in the reference, word for word: no critic tells copies apart."
            " Check the files."
        )
