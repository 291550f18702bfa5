"""Diversity of k texts: how many of them are different, and their Vendi score.

Values of k texts depend on k, so that collections are compared at the same k. They are means over random sets of k
texts, in random order:

- *distinct_k* (NoveltyBench; Zhang et al. 2025): number of equivalence classes. The partition is greedy: a text is of
  the first class whose first text is more similar than a threshold, and begins a class if there is none.
- *Vendi score* (Friedman and Dieng 2023): exponential of the entropy of the eigenvalues of the similarities over k. It
  is 1 for k equal texts, and k for k orthogonal ones.

The jackknife leaves out one unit at a time, with all sets that have a text of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_groups import FEWEST_PROMPTS
from macroscope.statistics.jackknifed import (
    JackknifedBounded,
    estimate_jackknifed,
    estimate_jackknifed_difference,
)
from macroscope.statistics.tidy import Estimate

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
DISTINCT, GOOD, VENDI, SELF_BLEU = "distinct_k", "good_distinct_k", "vendi", "self_bleu"
DIFFERENCE = "_difference"
ALIKE_SHARE = 0.05
"""Share of the pairs of people's texts on a prompt that are more similar than the threshold."""
SETS_PER_UNIT = 20
"""Number of random sets per unit: they add a twentieth to the variance at most."""
_SETS_AT_ONCE = 1000
STATISTICS = (
    Statistic(DISTINCT, holds="expected number of different texts among k"),
    Statistic(GOOD, holds="expected number of different texts among k, of those above a quality"),
    Statistic(VENDI, holds="expected Vendi score of k texts"),
    Statistic(SELF_BLEU, holds="mean BLEU of a text, with k - 1 others as its references"),
    Statistic(
        f"*{DIFFERENCE}",
        holds="diversity of k texts minus that of another collection",
        null="k texts are as diverse as k texts of the other collection",
    ),
)


@dataclass(frozen=True)
class TextSets:
    """Random sets of texts in random order; the first k of each are a set of k texts.

    Attributes
    ----------
    orders
        Sets x largest k: numbers of texts; -1 after the last text of a set.
    strata
        Stratum of each set, from 0; strata count equally.
    units
        Unit of each text, from 0: its texts are left out together.
    """

    orders: Integers
    strata: Integers
    units: Integers


def make_sets(
    strata: Integers, groups: Integers, units: Integers, most: int, rng: np.random.Generator, per_unit: int
) -> TextSets:
    """Make random sets of texts of one stratum each, with at most one text of a group.

    Parameters
    ----------
    strata, groups, units
        Numbers of each text: for texts on one prompt, the prompt, the text itself, and the prompt.
    most
        Largest number of texts in a set.
    per_unit
        Number of sets per unit of a stratum.
    """
    orders, of_sets = [np.empty((0, most), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for number, stratum in enumerate(np.unique(strata).tolist()):
        texts = np.flatnonzero(strata == stratum)
        texts = texts[np.argsort(groups[texts], kind="stable")]
        _, first, counts = np.unique(groups[texts], return_index=True, return_counts=True)
        sets = per_unit * len(np.unique(units[texts]))
        chosen = np.argsort(rng.random((sets, len(first))), axis=1)[:, :most]
        members = first[chosen] + (rng.random(chosen.shape) * counts[chosen]).astype(np.int64)
        rows = np.full((sets, most), -1)
        rows[:, : chosen.shape[1]] = texts[members]
        orders.append(rows)
        of_sets.append(np.full(sets, number))
    return TextSets(np.concatenate(orders), np.concatenate(of_sets), units)


def find_first_of_classes(is_similar: NDArray[np.bool_], counts: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each text begins a class of the greedy partition (sets x texts).

    Parameters
    ----------
    is_similar
        Whether two texts are of one class (sets x texts x texts).
    counts
        Whether each text counts (sets x texts); others are of no class.
    """
    begins = np.zeros_like(counts)
    for k in range(counts.shape[1]):
        begins[:, k] = counts[:, k] & ~(is_similar[:, k, :k] & begins[:, :k]).any(axis=1)
    return begins


def vendi_score(similarities: Array) -> Array:
    """Compute the Vendi score of sets of texts (... x texts x texts): in [1, texts], for similarities with ones as
    diagonal and without negative eigenvalues."""
    weights = np.maximum(np.linalg.eigvalsh(similarities / similarities.shape[-1]), 0)
    return np.asarray(np.exp(-(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)))


def measure_sets(
    vectors: NDArray[np.float32], sets: TextSets, threshold: float, is_good: NDArray[np.bool_] | None = None
) -> dict[str, Array]:
    """Measure the diversity of the first k texts of each set.

    Parameters
    ----------
    vectors
        Texts x width, of length 1.
    threshold
        Similarity (cosine) above which two texts are of one class.
    is_good
        Whether each text is above a quality; None: not known.

    Returns
    -------
    dict
        Statistic -> sets x largest k; NaN for sets that have fewer texts.
    """
    names = [DISTINCT, VENDI, *([GOOD] if is_good is not None else [])]
    parts: dict[str, list[Array]] = {name: [np.empty((0, sets.orders.shape[1]))] for name in names}
    for start in range(0, len(sets.orders), _SETS_AT_ONCE):
        orders = sets.orders[start : start + _SETS_AT_ONCE]
        present = orders >= 0
        chosen = vectors[orders].astype(float)
        similarities = chosen @ chosen.transpose(0, 2, 1)
        is_similar = similarities > threshold
        parts[DISTINCT].append(_count(find_first_of_classes(is_similar, present), present))
        parts[VENDI].append(np.stack([*_vendi_scores(similarities, present)], axis=1))
        if is_good is not None:
            parts[GOOD].append(_count(find_first_of_classes(is_similar, present & is_good[orders]), present))
    return {name: np.concatenate(values) for name, values in parts.items()}


def jackknife_sets(values: Array, sets: TextSets, k: int, bounds: tuple[float, float]) -> JackknifedBounded:
    """Return the mean over strata of the mean over sets, with the jackknife over units.

    Parameters
    ----------
    values
        Value of each set; NaN for sets that do not count.
    k
        Number of texts of a set.
    bounds
        Smallest and largest possible value.

    Returns
    -------
    jackknifed
        Its values have a place for all units. Those without a unit are NaN, so that there is no interval, if there are
        fewer than `FEWEST_PROMPTS` units, or fewer than 2 k of several in a stratum.
    """
    counted = np.flatnonzero(~np.isnan(values))
    number = int(sets.units.max()) + 1
    if not len(counted):
        return JackknifedBounded(np.full(1 + number, np.nan), 0, bounds)
    strata = np.unique(sets.strata[counted], return_inverse=True)[1]
    pairs = np.unique(
        [np.repeat(counted, k), sets.units[sets.orders[counted, :k]].ravel(), np.repeat(strata, k)], axis=1
    )
    units = np.unique(pairs[1:], axis=1)
    of_unit = np.searchsorted(units[0], pairs[1])  # a unit is in one stratum
    sizes, sums = np.bincount(strata), np.bincount(strata, values[counted])
    left = sizes[units[1]] - np.bincount(of_unit)
    sums_left = sums[units[1]] - np.bincount(of_unit, values[pairs[0]])
    means = sums / sizes
    value, others = means.mean(), means.sum() - means[units[1]]
    per_stratum = np.bincount(units[1])[units[1]]
    without = np.where(
        per_stratum == 1,
        others / max(len(means) - 1, 1),
        (others + sums_left / np.maximum(left, 1)) / len(means),
    )
    is_enough = units.shape[1] >= FEWEST_PROMPTS and bool(((per_stratum == 1) | (per_stratum >= 2 * k)).all())
    left_out = np.full(number, value)
    left_out[units[0]] = without
    return JackknifedBounded(
        np.append(value, left_out if is_enough else np.full(number, np.nan)), units.shape[1], bounds
    )


def estimate_diversity(name: str, term: JackknifedBounded, confidence: float) -> Estimate:
    """Estimate the diversity of k texts."""
    if np.isnan(term.values).any():
        return Estimate(name, term.value)
    return estimate_jackknifed(name, term, confidence)


def estimate_difference(
    name: str, first: JackknifedBounded, second: JackknifedBounded, confidence: float
) -> Estimate:
    """Estimate the difference of two collections' diversity of k texts, whose units have the same numbers."""
    if np.isnan(first.values).any() or np.isnan(second.values).any():
        return Estimate(name + DIFFERENCE, first.value - second.value)
    return estimate_jackknifed_difference(name + DIFFERENCE, first, second, confidence)


def calibrate_threshold(vectors: NDArray[np.float32], prompts: Integers) -> float | None:
    """Return the similarity that `ALIKE_SHARE` of the pairs of texts on a prompt exceed, with prompts counting equally.

    None if fewer than `FEWEST_PROMPTS` prompts have several texts.
    """
    values, weights = [], []
    for prompt in np.unique(prompts).tolist():
        of_prompt = vectors[prompts == prompt].astype(float)
        if len(of_prompt) > 1:
            pairs = (of_prompt @ of_prompt.T)[np.triu_indices(len(of_prompt), 1)]
            values.append(pairs)
            weights.append(np.full(len(pairs), 1 / len(pairs)))
    if len(values) < FEWEST_PROMPTS:
        return None
    similarity = np.concatenate(values)
    order = np.argsort(similarity)
    reached = np.cumsum(np.concatenate(weights)[order]) / len(values)
    return float(similarity[order][np.searchsorted(reached, 1 - ALIKE_SHARE)])


def _count(begins: NDArray[np.bool_], present: NDArray[np.bool_]) -> Array:
    return np.where(present, begins.cumsum(axis=1), np.nan)


def _vendi_scores(similarities: Array, present: NDArray[np.bool_]) -> Iterator[Array]:
    """Yield the Vendi scores of the first text, the first two, and so on; NaN without so many."""
    for k in range(1, present.shape[1] + 1):
        scores = np.full(len(present), np.nan)
        rows = present[:, k - 1]
        scores[rows] = vendi_score(similarities[rows, :k, :k])
        yield scores
