"""Measures of coreference: MUC, B3, CEAF-e, LEA, and the CoNLL mean.

Each is a precision and a recall; over several documents numerators and denominators are added up, as the CoNLL scorer
does. A cluster is a set of mentions, each anything that can be compared; clusters of one mention count as they are
given, so leave them out on both sides where the gold data have none.

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
    """Precision, recall and F1, all between 0 and 1; higher is better."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def muc(key: Clusters, response: Clusters) -> Fraction:
    """Recall of MUC as numerator and denominator: links of the key that survive in the response."""
    where = _where(response)
    kept = sum(len(cluster) - _parts(cluster, where) for cluster in key)
    return kept, sum(len(cluster) - 1 for cluster in key)


def b_cubed(key: Clusters, response: Clusters) -> Fraction:
    """Recall of B3: for each mention, the share of its cluster that is with it in the response."""
    where = _where(response)
    found = 0.0
    for cluster in key:
        together = np.unique([where[mention] for mention in cluster if mention in where], return_counts=True)[1]
        found += float((together**2).sum()) / len(cluster)
    return found, sum(len(cluster) for cluster in key)


def ceaf_e(key: Clusters, response: Clusters) -> Fraction:
    """Recall of CEAF-e: 2 |K n R| / (|K| + |R|), summed over the best alignment, over the number of key clusters."""
    if not key or not response:
        return 0.0, len(key)
    where = _where(response)
    similarity = np.zeros((len(key), len(response)))
    for row, cluster in enumerate(key):
        for mention in cluster:
            if mention in where:
                similarity[row, where[mention]] += 1
    sizes = np.array([len(c) for c in key])[:, None] + np.array([len(c) for c in response])[None]
    similarity = 2 * similarity / sizes
    rows, columns = linear_sum_assignment(-similarity)
    return float(similarity[rows, columns].sum()), len(key)


def lea(key: Clusters, response: Clusters) -> Fraction:
    """Recall of LEA: for each entity, weighted by its size, the share of its links that the response has."""
    where = _where(response)
    found = 0.0
    for cluster in key:
        if len(cluster) == 1:  # a link to itself
            (mention,) = cluster
            found += float(mention in where and len(response[where[mention]]) == 1)
            continue
        together = np.unique([where[mention] for mention in cluster if mention in where], return_counts=True)[1]
        found += len(cluster) * float(_links(together).sum()) / float(_links(np.array(len(cluster))))
    return found, sum(len(cluster) for cluster in key)


RECALLS: dict[str, Callable[[Clusters, Clusters], Fraction]] = {
    "MUC": muc,
    "B3": b_cubed,
    "CEAF-e": ceaf_e,
    "LEA": lea,
}
CONLL = ("MUC", "B3", "CEAF-e")


def evaluate(documents: Iterable[tuple[Clusters, Clusters]]) -> dict[str, Score]:
    """Every measure over documents.

    Parameters
    ----------
    documents
        (key, response) of each: gold clusters, and the resolver's.

    Returns
    -------
    dict
        Name of the measure -> its score. The CoNLL mean is `conll_mean` of it.
    """
    sums = {name: np.zeros(4) for name in RECALLS}
    for key, response in documents:
        for name, recall in RECALLS.items():
            sums[name] += (*recall(response, key), *recall(key, response))
    return {name: Score(_ratio(*values[:2]), _ratio(*values[2:])) for name, values in sums.items()}


def conll_mean(scores: dict[str, Score]) -> float:
    """Mean F1 of MUC, B3 and CEAF-e."""
    return float(np.mean([scores[name].f1 for name in CONLL]))


def _where(clusters: Clusters) -> dict[Hashable, int]:
    return {mention: number for number, cluster in enumerate(clusters) for mention in cluster}


def _parts(cluster: frozenset[Any], where: dict[Hashable, int]) -> int:
    """Into how many parts the response cuts a cluster; a mention that it does not have is a part of its own."""
    known = {where[mention] for mention in cluster if mention in where}
    return len(known) + sum(mention not in where for mention in cluster)


def _links(sizes: Any) -> Any:
    return sizes * (sizes - 1) / 2


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else 0.0
