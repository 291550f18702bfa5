"""Conformal p-values of single texts, which test whether a text is exchangeable with held-out real texts.

A conformal p-value is the rank of a score among those of real texts that took no part in making the score. It needs no
law of the scores: if the text is exchangeable with the real ones, P(p <= a) <= a for every a. The p-values of several
texts share the same real texts, so they are positively dependent (PRDS), and the procedure of Benjamini and Hochberg
controls the false discovery rate (Bates et al. 2023, Annals of Statistics 51, Theorem 2).

Texts of one prompt are alike. Therefore every group of real texts counts once, its texts sharing that weight (Lee,
Barber and Willett 2023, *Distribution-free inference with hierarchical data*), and real texts of the text's own group
are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.p_values import benjamini_hochberg

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
FALSE_FLAGS = 0.10
"""Expected share of false flags among all flags of a system, at most."""
STATISTICS = (Statistic("flag", null="the flagged text is exchangeable with real text", difference=False),)


@dataclass(frozen=True)
class Scores:
    """Scores of texts in groups.

    Attributes
    ----------
    values
        Score per text; NaN for a text that is not judged.
    groups
        Group of each text, such as its prompt; equal numbers name the same group in all collections.
    """

    values: Array
    groups: Integers

    def judged(self) -> "Scores":
        """Return the texts with a score."""
        is_judged = ~np.isnan(self.values)
        return Scores(self.values[is_judged], self.groups[is_judged])


def conformal_p_values(texts: Scores, real: Scores, *, one_sided: bool) -> Array:
    """Compute the conformal p-value of each text.

    Parameters
    ----------
    texts, real
        Scores of the texts to test and of held-out real texts. A text may be among the real ones: its group is left
        out.
    one_sided
        Whether only large scores are unlike real text. Otherwise the p-value is twice that of the nearer side.

    Returns
    -------
    In (0, 1], NaN for texts without a score: (1 + K of the groups at least as far out) / (1 + K). K is the number of
    groups of real texts without the text's own; of a group, the share of its texts counts. Ties count as farther out.
    """
    upper = _upper_p_values(texts, real)
    if one_sided:
        return upper
    lower = _upper_p_values(Scores(-texts.values, texts.groups), Scores(-real.values, real.groups))
    return np.minimum(1.0, 2 * np.minimum(upper, lower))


def flag(p_values: Iterable[Array], level: float = FALSE_FLAGS) -> list[NDArray[np.bool_]]:
    """Return which texts are flagged, such that the expected share of false flags among all flags is at most `level`.

    Parameters
    ----------
    p_values
        P-values of the texts by each critic; all are adjusted together.
    """
    families = list(p_values)
    adjusted = benjamini_hochberg(np.concatenate([*families, np.empty(0)]))
    ends = np.cumsum([len(family) for family in families])
    with np.errstate(invalid="ignore"):  # NaN: not judged
        return [part <= level for part in np.split(adjusted, ends)[:-1]]


def _upper_p_values(texts: Scores, real: Scores) -> Array:
    real = real.judged()
    _, group, sizes = np.unique(real.groups, return_inverse=True, return_counts=True)
    weights = 1 / sizes[group]
    order = np.argsort(real.values)
    sums = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    farther = sums[np.searchsorted(real.values[order], texts.values, side="left")]
    has_own, own_share = _own_group_shares(texts, real)
    groups = len(sizes) - has_own
    p = (1 + np.maximum(0.0, farther - own_share)) / (1 + groups)
    return np.where(np.isnan(texts.values), np.nan, np.minimum(1.0, p))


def _own_group_shares(texts: Scores, real: Scores) -> tuple[NDArray[np.bool_], Array]:
    """Return whether each text's group has real texts, and the share of these that is at least as far out."""
    order = np.argsort(real.groups, kind="stable")
    groups, values = real.groups[order], real.values[order]
    first, end = (np.searchsorted(groups, texts.groups, side=edge) for edge in ("left", "right"))
    sizes = end - first
    owner = np.repeat(np.arange(len(sizes)), sizes)
    member = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(first, sizes)
    is_farther = values[member] >= texts.values[owner]
    return sizes > 0, np.bincount(owner, is_farther, minlength=len(sizes)) / np.maximum(1, sizes)
