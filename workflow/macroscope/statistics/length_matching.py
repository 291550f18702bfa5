"""Lengths at which two samples of texts have one distribution of lengths.

Texts can be cut, not extended, so the common distribution is the one whose quantiles are the smaller of the two
samples' quantiles. A text at rank u of its sample is cut to that quantile at u. No text is left out, content goes with
ranks of length as before, and a sample that is longer at no rank is hardly cut.

The quantiles are those of a bootstrap resample of both samples, the same for both. With the samples' own quantiles, the
lengths would agree better than those of two samples of one distribution. A classifier that learns from some of the
texts would then be wrong about the others: whatever by chance is longer in the first must be shorter in the rest. In
simulations of 60 against 60 texts, the detectability of equal texts was 44 % instead of 50 %, and power was lost.

Paired texts and texts of one prompt are resampled together, so pairs of equal lengths are not cut. Paired texts are not
cut to the shorter one of a pair: of two samples with the same distribution, this would cut a large share of the words
for nothing.
"""

import numpy as np
from numpy.typing import NDArray

from macroscope.statistics.document_groups import Integers
from macroscope.statistics.document_sums import Array


def match_lengths(
    first: Integers, second: Integers, groups: tuple[Integers, Integers], seed: int
) -> tuple[Integers, Integers]:
    """Return the length to which each text of two samples is cut: at most its own; see the module.

    Parameters
    ----------
    first, second
        Lengths of the texts of each sample, such as numbers of words.
    groups
        Group of each text of both samples, from 0: paired texts, and texts of one prompt, are in one group.
    seed
        Seed of the resample, and of the ranks of texts of equal length.

    Raises
    ------
    ValueError
        If a sample is empty.
    """
    if not (len(first) and len(second)):
        raise ValueError("lengths of an empty sample match no others")
    rng = np.random.default_rng(seed)
    resampled = _resample((first, second), groups, rng)
    ranks = rng.random(max(len(first), len(second)))
    return _cut(first, *resampled, ranks[: len(first)]), _cut(second, *resampled[::-1], ranks[: len(second)])


def _resample(
    lengths: tuple[Integers, Integers], groups: tuple[Integers, Integers], rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Resample groups, and return the sorted lengths of their texts; of a sample that is then empty, all of them."""
    n_groups = int(max(map(np.max, groups))) + 1
    weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))
    resampled = [np.repeat(each, weights[labels]) for each, labels in zip(lengths, groups, strict=True)]
    first, second = (np.sort(new if len(new) else old) for new, old in zip(resampled, lengths, strict=True))
    return first, second


def _cut(lengths: Integers, resampled: Integers, others: Integers, ranks: Array) -> Integers:
    """Return the smaller of each length and the quantile of the other sample at its rank among resampled lengths.

    Beyond the resampled lengths, the ratio is that at their end.

    Parameters
    ----------
    resampled, others
        Sorted lengths of a resample of this sample, and of the other one.
    ranks
        Rank of each text among texts of its length, in [0, 1].
    """
    shares = _shares(len(resampled))
    left, right = (np.searchsorted(resampled, lengths, edge) for edge in ("left", "right"))
    last = np.minimum(left, len(resampled) - 1)
    among_equals = shares[last] + ranks * (shares[np.maximum(right - 1, 0)] - shares[last])
    share = np.where(right > left, among_equals, np.interp(lengths, resampled, shares))
    quantiles = np.interp(share, _shares(len(others)), others)
    ends = lengths / np.clip(lengths, max(resampled[0], 1), max(resampled[-1], 1))
    return np.minimum(lengths, np.rint(quantiles * ends).astype(np.int64))


def _shares(n: int) -> NDArray[np.float64]:
    """Return the share of a sample below the middle of each rank."""
    return np.asarray((np.arange(n) + 0.5) / n, dtype=np.float64)
