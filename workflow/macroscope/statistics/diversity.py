"""Diversity of k texts: how many of them are different, and their Vendi score.

Values depend on k, so that collections are compared at the same k. They are means over random sets of k texts:

- *distinct_k* (NoveltyBench; Zhang et al. 2025): number of equivalence classes. The partition is greedy: a text is of
  the first class whose first text is more similar than a threshold, and begins a class if there is none.
- *Vendi score* (Friedman and Dieng 2023): exponential of the entropy of the eigenvalues of the similarities over k. It
  is 1 for k equal texts, and k for k orthogonal ones.

The jackknife leaves out one unit at a time, with all sets that have a text of it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_groups import FEWEST_PROMPTS
from macroscope.statistics.jackknife import Jackknifed

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
DISTINCT, VENDI, SELF_BLEU, DIFFERENCE = "distinct_k", "vendi", "self_bleu", "_difference"
ALIKE_SHARE = 0.05
"""Share of the pairs of people's texts on a prompt that are more similar than the threshold."""
_SETS_AT_ONCE = 1000
_DIGITS = 4
"""Digits of Vendi scores: cosines of single precision give no more, and equal texts have equal scores."""
STATISTICS = (
    Statistic(DISTINCT, holds="expected number of different texts among k"),
    Statistic(VENDI, holds="expected Vendi score of k texts"),
    Statistic(SELF_BLEU, holds="mean BLEU of a text, with k - 1 others as its references"),
    Statistic(
        f"*{DIFFERENCE}",
        holds="diversity of k texts minus that of another collection",
        null="k texts are as diverse as k texts of the other collection",
    ),
)


def make_sets(
    strata: Integers, parts: Integers, units: Integers, most: int, per_unit: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Make random sets of texts of one stratum, with at most one text of a part.

    Parameters
    ----------
    strata, parts, units
        Numbers of each text: for texts on one prompt, the prompt, the text itself, and the prompt.
    most
        Largest number of texts in a set.
    per_unit
        Number of sets per unit of a stratum.

    Returns
    -------
    orders
        Sets x `most`: positions of texts, the first k of which are a set of k; -1 after the last.
    strata_of_sets
        Stratum of each set.
    """
    orders, strata_of_sets = [], []
    for stratum in np.unique(strata).tolist():
        texts = np.flatnonzero(strata == stratum)
        texts = texts[np.argsort(parts[texts], kind="stable")]
        _, first, counts = np.unique(parts[texts], return_index=True, return_counts=True)
        number = per_unit * len(np.unique(units[texts]))
        chosen = np.argsort(rng.random((number, len(first))), axis=1)[:, :most]
        members = texts[first[chosen] + (rng.random(chosen.shape) * counts[chosen]).astype(np.int64)]
        orders.append(np.pad(members, ((0, 0), (0, most - chosen.shape[1])), constant_values=-1))
        strata_of_sets += [stratum] * number
    return np.concatenate(orders), np.array(strata_of_sets)


def find_first_of_classes(is_similar: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each text begins a class of the greedy partition of its set (from sets x texts x texts)."""
    begins = np.zeros(is_similar.shape[:-1], dtype=bool)
    for k in range(is_similar.shape[-1]):
        begins[:, k] = ~(is_similar[:, k, :k] & begins[:, :k]).any(axis=1)
    return begins


def vendi_score(similarities: Array) -> Array:
    """Compute the Vendi score of sets of texts, in [1, texts], from similarities of which that with itself is 1."""
    weights = np.maximum(np.linalg.eigvalsh(similarities / similarities.shape[-1]), 0)
    return np.asarray(np.exp(-(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)))


def measure_sets(vectors: NDArray[np.float32], orders: Integers, threshold: float) -> dict[str, Array]:
    """Measure the diversity of the first k texts of each set.

    Parameters
    ----------
    vectors
        Texts x width, of length 1.
    orders
        Those of `make_sets`.
    threshold
        Cosine above which two texts are of one class.

    Returns
    -------
    dict
        Statistic -> sets x largest k; NaN for sets that have fewer texts.
    """
    distinct, vendi = [np.empty((0, orders.shape[1]))], [np.empty((0, orders.shape[1]))]
    for start in range(0, len(orders), _SETS_AT_ONCE):
        part = orders[start : start + _SETS_AT_ONCE]
        chosen = vectors[part].astype(float)
        similarities = chosen @ chosen.transpose(0, 2, 1)
        counts = find_first_of_classes(similarities > threshold).cumsum(axis=1)
        distinct.append(np.where(part >= 0, counts, np.nan))
        vendi.append(np.stack([*_vendi_scores(similarities, part >= 0)], axis=1))
    return {DISTINCT: np.concatenate(distinct), VENDI: np.concatenate(vendi)}


def jackknife_sets(
    values: Array, orders: Integers, strata: Integers, units: Integers, bounds: tuple[float, float]
) -> Jackknifed:
    """Return the mean over strata of the mean over sets, by the jackknife over units.

    Parameters
    ----------
    values
        Value of each set; NaN for sets that do not count.
    orders
        Sets x k.
    strata
        Stratum of each set.
    units
        Unit of each text.
    bounds
        Smallest and largest possible value.

    Returns
    -------
    jackknifed
        There is no interval if a stratum has several units, but fewer than 2 k or `FEWEST_PROMPTS`.
    """
    counted = np.flatnonzero(~np.isnan(values))
    if not len(counted):
        return Jackknifed(np.array([np.nan]), 0, bounds)
    k = orders.shape[1]
    strata = np.unique(strata[counted], return_inverse=True)[1]
    of_texts = [np.repeat(counted, k), units[orders[counted]].ravel(), np.repeat(strata, k)]
    pairs = np.unique(of_texts, axis=1)  # each set with each of its units
    numbers, stratum = np.unique(pairs[1:], axis=1)
    unit = np.searchsorted(numbers, pairs[1])  # a unit is in one stratum
    sizes, sums = np.bincount(strata), np.bincount(strata, values[counted])
    left = sizes[stratum] - np.bincount(unit)
    means_left = (sums[stratum] - np.bincount(unit, values[pairs[0]])) / np.maximum(left, 1)
    others = (sums / sizes).sum() - (sums / sizes)[stratum]
    siblings = np.bincount(stratum)[stratum]
    value = float((sums / sizes).mean())
    left_out = np.full(1 + int(units.max()), value)
    left_out[numbers] = np.where(siblings == 1, others / max(len(sizes) - 1, 1), (others + means_left) / len(sizes))
    if not ((siblings == 1) | (siblings >= max(2 * k, FEWEST_PROMPTS))).all():
        left_out[:] = np.nan
    return Jackknifed(np.append(value, left_out), len(numbers), bounds)


def calibrate_threshold(vectors: NDArray[np.float32], prompts: Integers) -> float | None:
    """Return the cosine that `ALIKE_SHARE` of the pairs of texts on a prompt exceed, with prompts counting equally.

    None if fewer than `FEWEST_PROMPTS` prompts have several texts.
    """
    values, weights = [np.empty(0)], [np.empty(0)]
    for prompt in np.unique(prompts).tolist():
        of_prompt = vectors[prompts == prompt].astype(float)
        pairs = (of_prompt @ of_prompt.T)[np.triu_indices(len(of_prompt), 1)]
        if len(pairs):
            values.append(pairs)
            weights.append(np.full(len(pairs), 1 / len(pairs)))
    if len(values) <= FEWEST_PROMPTS:
        return None
    similarity = np.concatenate(values)
    order = np.argsort(similarity)
    reached = np.cumsum(np.concatenate(weights)[order]) / (len(values) - 1)
    return float(similarity[order][np.searchsorted(reached, 1 - ALIKE_SHARE)])


def _vendi_scores(similarities: Array, present: NDArray[np.bool_]) -> Iterator[Array]:
    """Yield the Vendi scores of the first text, the first two, and so on; NaN if there are fewer texts."""
    for k in range(1, present.shape[1] + 1):
        scores = np.full(len(present), np.nan)
        rows = present[:, k - 1]
        scores[rows] = np.round(vendi_score(similarities[rows, :k, :k]), _DIGITS)
        yield scores
