"""Measures of coreference: MUC, B3, CEAF-e, LEA, and the CoNLL mean.

Each has a precision and a recall; numerators and denominators are summed over documents, as in the CoNLL scorer. A
cluster is a set of hashable mentions. Singletons count as they are given: drop them from both key and response if the
gold data do not annotate them.

Vilain et al. 1995 (MUC); Bagga and Baldwin 1998 (B3); Luo 2005 (CEAF-e, entity similarity phi 4); Moosavi and Strube
2016 (LEA); Pradhan et al. 2012 (the mean).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

Clusters = Sequence[frozenset[Any]]
Fraction = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1, all in [0, 1]; higher is better."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def muc(key: Clusters, response: Clusters) -> Fraction:
    """Return the recall of MUC as numerator and denominator: links of the key that the response preserves."""
    cluster_of = _index_mentions(response)
    kept = sum(len(cluster) - _count_parts(cluster, cluster_of) for cluster in key)
    return kept, sum(len(cluster) - 1 for cluster in key)


def b_cubed(key: Clusters, response: Clusters) -> Fraction:
    """Return the recall of B3: for each mention, the share of its key cluster that is in its response cluster."""
    cluster_of = _index_mentions(response)
    total = 0.0
    for cluster in key:
        together = np.unique([cluster_of[mention] for mention in cluster if mention in cluster_of], return_counts=True)[
            1
        ]
        total += float((together**2).sum()) / len(cluster)
    return total, sum(len(cluster) for cluster in key)


def ceaf_e(key: Clusters, response: Clusters) -> Fraction:
    """Return the recall of CEAF-e: 2 |K n R| / (|K| + |R|) summed over the best alignment; number of key clusters."""
    if not key or not response:
        return 0.0, len(key)
    cluster_of = _index_mentions(response)
    similarity = np.zeros((len(key), len(response)))
    for row, cluster in enumerate(key):
        for mention in cluster:
            if mention in cluster_of:
                similarity[row, cluster_of[mention]] += 1
    sizes = np.array([len(c) for c in key])[:, None] + np.array([len(c) for c in response])[None]
    similarity = 2 * similarity / sizes
    rows, columns = linear_sum_assignment(-similarity)
    return float(similarity[rows, columns].sum()), len(key)


def lea(key: Clusters, response: Clusters) -> Fraction:
    """Return the recall of LEA: for each entity, weighted by size, the share of its links in the response."""
    cluster_of = _index_mentions(response)
    total = 0.0
    for cluster in key:
        if len(cluster) == 1:  # a link to itself
            (mention,) = cluster
            total += float(mention in cluster_of and len(response[cluster_of[mention]]) == 1)
            continue
        together = np.unique([cluster_of[mention] for mention in cluster if mention in cluster_of], return_counts=True)[
            1
        ]
        total += len(cluster) * float(_count_links(together).sum()) / float(_count_links(np.array(len(cluster))))
    return total, sum(len(cluster) for cluster in key)


RECALLS: dict[str, Callable[[Clusters, Clusters], Fraction]] = {
    "MUC": muc,
    "B3": b_cubed,
    "CEAF-e": ceaf_e,
    "LEA": lea,
}
CONLL = ("MUC", "B3", "CEAF-e")


def evaluate(documents: Iterable[tuple[Clusters, Clusters]]) -> dict[str, Score]:
    """Compute every measure over documents.

    Parameters
    ----------
    documents
        (key, response) of each document: gold clusters, and clusters of the resolver.

    Returns
    -------
    dict
        Name of the measure -> score. For the CoNLL mean, see `conll_mean`.
    """
    sums = {name: np.zeros(4) for name in RECALLS}
    for key, response in documents:
        for name, recall in RECALLS.items():
            sums[name] += (*recall(response, key), *recall(key, response))
    return {name: Score(_ratio(*values[:2]), _ratio(*values[2:])) for name, values in sums.items()}


def conll_mean(scores: dict[str, Score]) -> float:
    """Compute the mean F1 of MUC, B3 and CEAF-e."""
    return float(np.mean([scores[name].f1 for name in CONLL]))


def _index_mentions(clusters: Clusters) -> dict[Hashable, int]:
    return {mention: number for number, cluster in enumerate(clusters) for mention in cluster}


def _count_parts(cluster: frozenset[Any], cluster_of: dict[Hashable, int]) -> int:
    """Count the parts into which the response splits a cluster; a missing mention is a separate part."""
    response_clusters = {cluster_of[mention] for mention in cluster if mention in cluster_of}
    return len(response_clusters) + sum(mention not in cluster_of for mention in cluster)


def _count_links(sizes: Any) -> Any:
    return sizes * (sizes - 1) / 2


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else 0.0
