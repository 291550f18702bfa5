"""Joint permutation test of a critic: the largest difference of its features, and statistics of collections as wholes.

A critic declares any number of statistics (`CollectionStatistic`). Each has one value per division of the documents
into two sides, and all have the same divisions: the observed one and random permutations, within pairs of documents if
they are paired (`statistics.permutation_groups`). A value becomes its p-value among the values of its statistic, and
the smallest of these p-values is the test statistic (Westfall and Young 1993, min P). Divisions are exchangeable under
the null, so the test is exact, whatever the statistics and however they depend on each other. Ranks put a
heavy-tailed statistic and a normal one on one scale.

The statistic that most critics declare, `largest_mean_difference`, takes every feature of documents by its normal score
among all documents of both sides, and the square of that; bags of names by the normal scores of the shares of frequent
names. It is the largest difference of means of these columns, each in units of its own spread (max T).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_classifier import count_names, normal_scores, reduce_features
from macroscope.statistics.document_features import Array, DocumentFeatures, join_features
from macroscope.statistics.document_groups import Integers, find_repeats
from macroscope.statistics.p_values import TIE
from macroscope.statistics.permutation_groups import Permutation, build_permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate

LARGEST_DIFFERENCE: str = "largest_difference"
STATISTICS = (
    Statistic(
        LARGEST_DIFFERENCE,
        null="documents of the system and of real text come from one distribution, for every number of the critic",
        difference=False,  # it repeats the tests of single numbers, all at once
    ),
)
MOST_NAMES = 200
"""Number of the most frequent names of a bag whose shares are features."""
PERMUTATIONS = 999
FEWEST = 5
"""Smallest number of documents per side: fewer cannot reach a level of 5 % by permutations within pairs."""
_LEAST_SPREAD = 1e-9


@dataclass(frozen=True)
class Divisions:
    """Divisions of documents into two sides.

    Attributes
    ----------
    documents
        Numbers of the documents in the pool of a statistic.
    groups
        Group of each document, within which permutations exchange documents: the same for paired ones, 0 for unpaired.
    inside
        Divisions x documents: 1 on the first side, 0 on the second.
    """

    documents: Integers
    groups: Integers
    inside: Array


Comparison = Callable[[Divisions], Array]
"""Function of divisions that returns a value per division; larger values are of more different sides."""
CollectionStatistic = Callable[[DocumentFeatures], Comparison]
"""Function of the documents of a pool. What the pool alone determines, such as distances, is computed once."""


def largest_mean_difference(pool: DocumentFeatures) -> Comparison:
    """Return the largest difference of a feature's means, in units of its spread; see the module."""
    return compare_means(standardise(pool))


def compare_means(columns: Array) -> Comparison:
    """Return the largest difference of the means of columns (documents x columns), in units of their spreads."""

    def compare(divisions: Divisions) -> Array:
        values, spreads = _centre(columns[divisions.documents], divisions)
        is_spread = spreads > _LEAST_SPREAD
        if not is_spread.any():
            return np.zeros(len(divisions.inside))
        sums = np.abs(divisions.inside @ values[:, is_spread])
        return np.asarray((sums / spreads[is_spread]).max(axis=1))

    return compare


def standardise(pool: DocumentFeatures) -> Array:
    """Return the columns of `largest_mean_difference`; constant columns are left out."""
    numbers = reduce_features(pool.numbers.astype(float))
    columns = [normal_scores(numbers, numbers)]
    for bag in pool.bags:
        counts, _ = count_names(bag)
        frequent = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:MOST_NAMES]
        sizes = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
        shares = counts[:, frequent].toarray() / sizes[:, None]
        columns.append(normal_scores(shares, shares)[:, ::2])  # without the squares
    scores = np.concatenate(columns, axis=1)
    return np.asarray(scores[:, scores.std(axis=0) > 0])


def _centre(values: Array, divisions: Divisions) -> tuple[Array, Array]:
    """Centre columns within groups, and return the standard deviations of sums over one side under permutation.

    A permutation keeps the number of documents that each side has of a group, so sums over random subsets of groups are
    independent (sampling without replacement).
    """
    codes = np.unique(divisions.groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    first = np.bincount(codes, divisions.inside[0])
    members = sparse.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    centred = values - (members @ values / sizes[:, None])[codes]
    variances = members @ centred**2 / np.maximum(sizes - 1, 1)[:, None]
    return centred, np.sqrt((first * (sizes - first) / sizes) @ variances)


def joint_p_value(observed: Array, permuted: Array, exact: bool = False) -> float:
    """Compute the p-value of the smallest of several p-values, by the same permutations; see the module.

    Parameters
    ----------
    observed
        Value of each statistic.
    permuted
        Permutations x statistics.
    exact
        Whether every division was enumerated, the observed one among them.
    """
    values = np.concatenate([observed[np.newaxis], permuted])
    reference = permuted if exact else values
    smallest = np.min([_shares_reaching(*pair) for pair in zip(values.T, reference.T, strict=True)], axis=0)
    return float(np.count_nonzero(smallest[-len(reference) :] <= smallest[0] + TIE) / len(reference))


def _shares_reaching(values: Array, reference: Array) -> Array:
    """Return for each value the share of the reference that reaches it."""
    below = np.searchsorted(np.sort(reference), values - TIE * np.maximum(1.0, np.abs(values)), "left")
    return np.asarray(1 - below / len(reference))


def estimate_largest_difference(
    statistics: Sequence[CollectionStatistic],
    reference: DocumentFeatures,
    candidate: DocumentFeatures,
    seed: int,
    permutations: int = PERMUTATIONS,
) -> Estimate:
    """Test whether two samples of documents differ in any of a critic's statistics.

    Of the texts of a prompt, the first one counts (`document_groups.find_repeats`): texts of one prompt are alike, and
    no permutation of unlike groups would be exact.

    Returns
    -------
    Estimate
        The value is the largest distance of a statistic from its mean under permutation, in standard deviations. NaN
        with fewer than `FEWEST` documents in a sample.
    """
    reference, candidate = (each.subset(np.flatnonzero(~find_repeats(each.keys))) for each in (reference, candidate))
    if min(len(reference), len(candidate)) < FEWEST:
        return Estimate(LARGEST_DIFFERENCE, UNDEFINED)
    permutation = build_permutation(reference.keys, candidate.keys)
    comparisons = [statistic(join_features(reference, candidate)) for statistic in statistics]
    values = permute(comparisons, permutation, permutations, np.random.default_rng(seed))
    observed, permuted = values[0], values[1:]
    spreads = permuted.std(axis=0)
    distances = np.divide(observed - permuted.mean(axis=0), spreads, out=np.zeros_like(spreads), where=spreads > 0)
    p_value = joint_p_value(observed, permuted, permutation.is_exact(permutations))
    return Estimate(LARGEST_DIFFERENCE, float(distances.max()), p_value=p_value)


def permute(
    comparisons: Sequence[Comparison], permutation: Permutation, permutations: int, rng: np.random.Generator
) -> Array:
    """Compute the values of several statistics of the same documents: of the observed division, then of permutations.

    Returns
    -------
    array
        1 + permutations x statistics. If there are no more divisions than `permutations`, each is enumerated.
    """
    documents = np.arange(permutation.units)
    groups = np.zeros(len(documents), dtype=np.int64) if permutation.groups is None else permutation.groups
    observed = np.repeat([[1.0, 0.0]], permutation.sizes, axis=1)
    values = []
    for inside in (observed, *permutation.memberships(permutations, rng)):
        divisions = Divisions(documents, groups, inside)
        values.append(np.stack([compare(divisions) for compare in comparisons], axis=1))
    return np.concatenate(values)
