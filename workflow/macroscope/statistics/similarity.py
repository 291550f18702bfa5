"""Similarity of texts within a collection and between collections, with prompts as the units.

The similarity of two texts is the inner product of their feature vectors. A prompt's vector is the mean over its texts,
so that prompts count equally. Three means over pairs of texts of two collections, which may be the same one:

- other prompts: over pairs on different prompts, so that it has nothing of any single prompt;
- same prompt: over pairs on one prompt (within a collection: of different texts);
- prompt effect: same prompt minus other prompts, as far as prompts are shared.

Each is a U-statistic of prompts; the jackknife leaves out one prompt of all collections at a time (Arvesen 1969). It is
applied to square roots, since a similarity of rare features is the square of a share, or a share of few matches.

Sums of vectors give the means, so that time and memory grow with the number of texts, not with that of their pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.jackknife import JackknifedSquare, estimate_difference, estimate_jackknifed
from macroscope.statistics.tidy import Estimate

Array = NDArray[np.float64]

DIGITS = 12
OTHER_PROMPTS, SAME_PROMPT, PROMPT_EFFECT = "other_prompts", "same_prompt", "prompt_effect"
SELF_EXCESS, BETWEEN_EXCESS = "self_excess", "between_excess"
STATISTICS = (
    Statistic(OTHER_PROMPTS, holds="mean similarity of two texts on different prompts"),
    Statistic(SAME_PROMPT, holds="mean similarity of two texts on the same prompt"),
    Statistic(PROMPT_EFFECT, holds="mean similarity on the same prompt minus that on different prompts"),
    Statistic(
        SELF_EXCESS,
        holds="mean similarity of a system's texts on different prompts minus that of real texts",
        null="two texts of a system on different prompts are as similar as two real texts",
    ),
    Statistic(
        BETWEEN_EXCESS,
        holds="mean similarity to other systems' texts on the same prompt minus that to real texts on it",
        null="on the same prompt, a system's texts are as similar to other systems' texts as to real texts",
    ),
)


@dataclass(frozen=True)
class Collection:
    """Feature vectors of a collection's texts; features are not negative, so that similarities are not.

    Attributes
    ----------
    means
        Mean vector of each prompt (prompts x features), the same prompts and features for all collections; zeros for
        prompts without texts.
    texts
        Number of texts of each prompt.
    within
        Mean similarity of two different texts of each prompt; NaN for fewer than two texts.
    """

    means: sparse.csr_matrix
    texts: NDArray[np.int64]
    within: Array


@dataclass(frozen=True)
class Similarities:
    """Mean similarities of all pairs of collections; see the module.

    Attributes
    ----------
    other_prompts, same_prompt
        (1 + prompts) x collections x collections: the value, and the values without each prompt; NaN without pairs.
    prompts
        Number of prompts of each collection.
    shared
        Number of prompts in the means of `same_prompt` (collections x collections).
    """

    other_prompts: Array
    same_prompt: Array
    prompts: NDArray[np.int64]
    shared: NDArray[np.int64]

    @property
    def distances(self) -> Array:
        """Return the squared distance of the mean vectors of each two collections, unbiased: 0 or less if equal.

        It is the squared maximum mean discrepancy (Gretton et al. 2012), over pairs on different prompts.
        """
        values = self.other_prompts[0]
        within = np.diag(values)
        distances = within[:, None] + within[None, :] - 2 * values
        np.fill_diagonal(distances, 0.0)
        return np.asarray(distances)


def make_collection(vectors: sparse.csr_matrix, prompts: NDArray[np.int64], number: int) -> Collection:
    """Make a collection of texts.

    Parameters
    ----------
    vectors
        Texts x features.
    prompts
        Prompt of each text, from 0.
    number
        Number of prompts of all collections.
    """
    texts = np.bincount(prompts, minlength=number)
    membership = sparse.csr_matrix((np.ones(len(prompts)), (prompts, np.arange(len(prompts)))), (number, len(prompts)))
    sums = (membership @ vectors).tocsr()
    squares = membership @ _row_sums(vectors.multiply(vectors))
    pairs = np.where(texts > 1, texts * (texts - 1.0), np.nan)
    within = (_row_sums(sums.multiply(sums)) - squares) / pairs
    means = sparse.diags(1 / np.maximum(texts, 1)) @ sums
    return Collection(means.tocsr(), texts, within)


def measure_similarities(collections: Sequence[Collection]) -> Similarities:
    """Measure the mean similarities of all pairs of collections."""
    number, prompts = len(collections), len(collections[0].texts)
    sums = sparse.vstack([sparse.csr_matrix(each.means.sum(axis=0)) for each in collections]).tocsr()
    to_sums = np.stack([(each.means @ sums.T).toarray() for each in collections], axis=1)  # prompts x of x to
    other_prompts = np.full((1 + prompts, number, number), np.nan)
    same_prompt = np.full((1 + prompts, number, number), np.nan)
    shared = np.zeros((number, number), dtype=np.int64)
    for i, first in enumerate(collections):
        for j, second in enumerate(collections[: i + 1]):
            on_prompt = _row_sums(first.means.multiply(second.means))
            across = _mean_on_other_prompts(first, second, on_prompt, to_sums[:, i, j], to_sums[:, j, i])
            pairs = first.within if i == j else _shared_only(first, second, on_prompt)
            other_prompts[:, i, j] = other_prompts[:, j, i] = across
            same_prompt[:, i, j] = same_prompt[:, j, i] = _mean_on_same_prompt(pairs)
            shared[i, j] = shared[j, i] = (~np.isnan(pairs)).sum()
    return Similarities(other_prompts, same_prompt, np.array([(each.texts > 0).sum() for each in collections]), shared)


def estimate_pair(similarities: Similarities, i: int, j: int, confidence: float) -> list[Estimate]:
    """Estimate the three mean similarities of two collections, or of one if `i` is `j`."""
    across, same = similarities.other_prompts[:, i, j], similarities.same_prompt[:, i, j]
    fewest, shared = int(similarities.prompts[[i, j]].min()), int(similarities.shared[i, j])
    return [
        estimate_jackknifed(OTHER_PROMPTS, JackknifedSquare(across, fewest), confidence),
        estimate_jackknifed(SAME_PROMPT, JackknifedSquare(same, shared), confidence),
        estimate_difference(
            PROMPT_EFFECT, JackknifedSquare(same, shared), JackknifedSquare(across, shared), confidence, is_tested=False
        ),
    ]


def estimate_excess(similarities: Similarities, system: int, real: int, confidence: float) -> list[Estimate]:
    """Estimate how much more similar a system's texts are, to each other and to other systems', than to real text.

    Between systems, the mean counts over all systems that share prompts with this one. The similarity of two real texts
    on a prompt would be a better measure, but few collections have them: it is that to a real text on the prompt.
    """
    across, same = similarities.other_prompts, similarities.same_prompt
    rest = [j for j in range(same.shape[1]) if j not in (system, real) and similarities.shared[system, j]]
    between = same[:, system, rest].mean(axis=1) if rest else np.full(len(same), np.nan)
    fewest = int(similarities.prompts[[system, real]].min())
    fewest_shared = int(similarities.shared[system, [*rest, real]].min())
    return [
        estimate_difference(name, JackknifedSquare(first, units), JackknifedSquare(second, units), confidence)
        for name, first, second, units in (
            (SELF_EXCESS, across[:, system, system], across[:, real, real], fewest),
            (BETWEEN_EXCESS, between, same[:, system, real], fewest_shared),
        )
    ]


def _mean_on_other_prompts(
    first: Collection, second: Collection, on_prompt: Array, of_first: Array, of_second: Array
) -> Array:
    """Return the mean over pairs on different prompts, and without each prompt.

    Parameters
    ----------
    on_prompt
        Inner product of the two means of each prompt.
    of_first, of_second
        Inner product of each prompt's mean with the sum over the prompts of the other collection.
    """
    has_first, has_second = first.texts > 0, second.texts > 0
    has_both = has_first & has_second
    total = of_first.sum() - on_prompt.sum()
    n, m, shared = has_first.sum(), has_second.sum(), has_both.sum()
    sums = np.append(total, total - of_first - of_second + 2 * on_prompt)
    counts = np.append(n * m - shared, (n - has_first) * (m - has_second) - (shared - has_both))
    return _divide(sums, counts)


def _mean_on_same_prompt(similarities: Array) -> Array:
    """Return the mean over the prompts that have a similarity, and without each prompt."""
    has_value = ~np.isnan(similarities)
    values = np.where(has_value, similarities, 0.0)
    sums = np.append(values.sum(), values.sum() - values)
    return _divide(sums, np.append(has_value.sum(), has_value.sum() - has_value))


def _shared_only(first: Collection, second: Collection, on_prompt: Array) -> Array:
    return np.where((first.texts > 0) & (second.texts > 0), on_prompt, np.nan)


def _divide(sums: Array, counts: NDArray[np.int64]) -> Array:
    """Divide; errors of rounding must not make equal texts differ."""
    return np.asarray(np.where(counts > 0, np.round(sums / np.maximum(counts, 1), DIGITS), np.nan))


def _row_sums(matrix: sparse.spmatrix) -> Array:
    return np.asarray(matrix.sum(axis=1)).ravel()
