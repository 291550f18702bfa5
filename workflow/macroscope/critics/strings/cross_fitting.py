"""Log-probabilities of texts under estimates that have not seen them.

An estimate from the texts that it scores finds them too likely, its own side's most of all, and every divergence comes
out too large. So the texts are divided into folds; those of a fold are scored by estimates from the other folds of
either side. The published code scores all texts by estimates from all texts.

An estimate from more texts is a better one, and a divergence would take that for a difference. So both sides' estimates
are from equally many texts.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from macroscope.critics.strings.estimators import Estimator
from macroscope.critics.strings.texts import Texts
from macroscope.errors import MacroscopeError
from macroscope.progress import progress
from macroscope.statistics.bootstrap import Array

PROMPT_WORDS = 8
Folds = NDArray[np.int64]


@dataclass(frozen=True)
class LogProbabilities:
    """Log-probabilities in nats of the texts of reference and candidate.

    Attributes
    ----------
    log_p, log_q
        Under the estimates of the reference's and of the candidate's distribution.
    folds
        Fold of each text of either side; None where the estimates have seen the texts.
    fallback_orders
        How many orders of how many estimates had no discounts of their own; n-grams only.
    """

    log_p: tuple[Array, Array]
    log_q: tuple[Array, Array]
    folds: tuple[Folds, Folds] | None
    fallback_orders: int


def divide(reference: Texts, candidate: Texts, folds: int, seed: int) -> tuple[Folds, Folds]:
    """Fold of each text of either side.

    Texts that are the same, that have the same id on both sides (such as a text and what a perturbation made of it),
    or that begin with the same `PROMPT_WORDS` words (as samples do that go on from real texts) are in the same fold:
    one must not be scored by an estimate that has seen the other.
    """
    shared = set(reference.ids) & set(candidate.ids)
    ids = [
        identifier if identifier in shared else (number, identifier)
        for number, side in enumerate((reference, candidate))
        for identifier in side.ids
    ]
    texts = [*reference.texts, *candidate.texts]
    of_id, of_beginning = _codes(ids), _codes([_beginning(text) for text in texts])
    size = of_id.max(initial=-1) + of_beginning.max(initial=-1) + 2
    links = (of_id, of_id.max(initial=-1) + 1 + of_beginning)
    count, groups = connected_components(
        sparse.coo_matrix((np.ones(len(ids)), links), shape=(size, size)), directed=False
    )
    numbers = np.random.default_rng(seed).permutation(count) % folds
    found = numbers[groups[of_id]]
    return found[: len(reference)], found[len(reference) :]


def _beginning(text: str) -> str:
    """First words of a text; of a shorter one the whole."""
    return " ".join(text.split(maxsplit=PROMPT_WORDS)[:PROMPT_WORDS])


def _codes(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    """Number of each key: equal keys have the same."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def cross_fitted(reference: Texts, candidate: Texts, estimator: Estimator, folds: int, seed: int) -> LogProbabilities:
    """Score every text by estimates from the other folds."""
    numbers = divide(reference, candidate, folds, seed)
    sides = (reference, candidate)
    logs = [[np.empty(len(side)) for side in sides] for _ in sides]
    fallback = 0
    for fold in progress(range(folds), f"cross-fit {estimator.name}", unit="folds"):
        inside = [np.flatnonzero(some == fold) for some in numbers]
        outside = [np.flatnonzero(some != fold) for some in numbers]
        for name, rest in zip(("the control", "the system"), outside, strict=True):
            if not len(rest):
                raise MacroscopeError(
                    f"the strings critic cannot leave out a fold of {name}: its texts are too few or all the same; give"
                    " it more"
                )
        size = min(map(len, outside))
        rng = np.random.default_rng([seed, fold])
        for which, side in enumerate(sides):
            chosen = np.sort(rng.choice(outside[which], size, replace=False))
            found = estimator.fit(_some(side, chosen), seed + fold)
            fallback += len(getattr(found, "fallback_orders", ()))
            for scored, texts in enumerate(sides):
                if len(inside[scored]):
                    logs[which][scored][inside[scored]] = found.log_probabilities(_some(texts, inside[scored]))
    return LogProbabilities((logs[0][0], logs[0][1]), (logs[1][0], logs[1][1]), numbers, fallback)


def in_sample(reference: Texts, candidate: Texts, estimator: Estimator, seed: int) -> LogProbabilities:
    """Score every text by estimates from all texts (published code)."""
    found = [estimator.fit(side.texts, seed) for side in (reference, candidate)]
    logs = [tuple(each.log_probabilities(side.texts) for side in (reference, candidate)) for each in found]
    fallback = sum(len(getattr(each, "fallback_orders", ())) for each in found)
    return LogProbabilities((logs[0][0], logs[0][1]), (logs[1][0], logs[1][1]), None, fallback)


def _some(side: Texts, chosen: NDArray[np.int64]) -> Sequence[str]:
    return [side.texts[i] for i in chosen]
