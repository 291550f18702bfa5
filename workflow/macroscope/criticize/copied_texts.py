"""Texts of a collection that are copies of real texts, by the n-grams of their profiles."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macroscope.criticize.profile import Profile
from macroscope.natural_language.ngrams import COPY, HALF, NO_HASHES, WHOLE, Hashes, cover_words
from macroscope.statistics.proportions import exact_test

_MANY, _LEVEL = 0.5, 0.01
"""Share of whole copies that is told of even few texts, and level of the test against real texts."""
Flags = NDArray[np.bool_]


def find_copies(reference: Profile, texts: Profile) -> tuple[Flags, Flags]:
    """Return which texts are whole, and half, copies of real texts: of other ones, if they are real texts."""
    is_reference = texts is reference
    hashes = np.array(texts.texts, dtype=np.uint64)
    values, numbers = np.unique(np.array(reference.texts, dtype=np.uint64), return_counts=True)
    is_whole = np.isin(hashes, values[numbers > is_reference])
    shares = np.zeros(len(hashes))
    real, ngrams = ([np.frombuffer(each, np.uint64) for each in profile.ngrams] for profile in (reference, texts))
    shares[: len(ngrams)] = _share_words(ngrams, _sort_ngrams(real, 1 + is_reference))
    is_whole |= shares >= WHOLE
    return is_whole, (shares >= HALF) & ~is_whole


def tell_copies(reference: Profile, texts: Profile) -> dict[str, int] | None:
    """Return the numbers of copies if they are half of the texts, or more than among real texts beyond chance."""
    whole, half = (int(flags.sum()) for flags in find_copies(reference, texts))
    number, real = whole + half, int(sum(flags.sum() for flags in find_copies(reference, reference)))
    if not number or (
        whole < _MANY * len(set(texts.texts))
        and (
            number * reference.documents <= real * texts.documents
            or exact_test(number, texts.documents, real, reference.documents) >= _LEVEL
        )
    ):
        return None
    return {"number": number, "whole": whole, "half": half, "real": real}


def _sort_ngrams(texts: Sequence[Hashes], fewest: int) -> Hashes:
    """Return the n-grams of at least `fewest` texts, in order."""
    values, numbers = np.unique(np.concatenate([NO_HASHES, *map(np.unique, texts)]), return_counts=True)
    return np.asarray(values[numbers >= fewest], dtype=np.uint64)


def _share_words(texts: Sequence[Hashes], wanted: Hashes) -> NDArray[np.float64]:
    """Return the share of each text's words that are in one of the n-grams `wanted`; 0 of texts without any n-gram."""
    shares = np.zeros(len(texts))
    for number, ngrams in enumerate(texts):
        if len(ngrams) and len(wanted):
            places = np.searchsorted(wanted, ngrams)
            places[places == len(wanted)] = 0
            words = len(ngrams) + COPY - 1
            shares[number] = cover_words(np.flatnonzero(wanted[places] == ngrams), COPY, words).mean()
    return shares
