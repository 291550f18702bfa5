"""Log-probabilities of texts under estimates that have not seen them.

An estimate from the texts that it scores finds them too likely, its own side's most of all, and every divergence comes
out too large. So the texts are divided into folds; those of a fold are scored by estimates from the other folds of
either side. For intervals the same is done without each fold in turn; for tests the texts of a fold are scored once
more, by estimates from the folds before it alone (`statistics.cross_fitted_tests` says why). The published code scores all
texts by estimates from all texts.

An estimate from more texts is a better one, and a divergence would take that for a difference. So both sides' estimates
are from equally many texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.strings.estimators import Distribution, Estimator
from macroscope.critics.strings.texts import Texts
from macroscope.progress import progress
from macroscope.statistics.cross_fitted_tests import Folds, Order
from macroscope.statistics.document_sums import Array
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.permutation_groups import Integers, group_labels, partners
from macroscope.statistics.sampled_divergences import Scored


@dataclass(frozen=True)
class LogProbabilities:
    """Log-probabilities in nats of the texts of reference and candidate.

    Attributes
    ----------
    log_p, log_q
        Under the estimates of the reference's and of the candidate's distribution.
    fallback_orders
        How many orders of how many estimates had no discounts of their own; n-grams only.
    order
        Folds of the texts of either side; None where the estimates have seen the texts, or nothing could be estimated.
    earlier
        The same under estimates from earlier folds only; nan where there are none. None with `order`.
    without
        For each fold the same without it: its texts have nan, and take part in no estimate. Empty without `order`.
    """

    log_p: tuple[Array, Array]
    log_q: tuple[Array, Array]
    fallback_orders: int
    order: Order | None = None
    earlier: "LogProbabilities | None" = None
    without: tuple["LogProbabilities", ...] = ()

    @property
    def ratios(self) -> tuple[Array, Array]:
        """Log p(x) - log q(x) of the texts of either side."""
        return self.log_p[0] - self.log_q[0], self.log_p[1] - self.log_q[1]

    @property
    def scored(self) -> Scored | None:
        """What a comparison of the ratios needs to know of them."""
        if self.order is None or self.earlier is None:
            return None
        return Scored(self.earlier.ratios, self.order, tuple(each.ratios for each in self.without))


def together(reference: Texts, candidate: Texts, folds: int) -> tuple[Integers, Integers]:
    """Group of each text of either side that an estimate has to see with the others or not at all.

    Partners, equal texts, and those of one opening, unless it is that of so many that it is a heading rather than a
    prompt: of more than half a fold.
    """
    # An empty key would say nothing, but empty texts are equal ones.
    sides = [side.keys.assign(text=[f"={text}" for text in side.texts]) for side in (reference, candidate)]
    counts = pd.concat([side["opening"] for side in sides]).value_counts()
    prompts = counts.index[counts <= (len(reference) + len(candidate)) / (2 * folds)]
    sides = [side.assign(prompt=side["opening"].where(side["opening"].isin(prompts))) for side in sides]
    return group_labels(sides[0], sides[1], (*KEYS, "text", "prompt"))


def divide(groups: tuple[Integers, Integers], folds: int, seed: int) -> tuple[Folds, Folds]:
    """Fold of each text of either side; a group is in one, since no estimate must have seen another text of it.

    Parameters
    ----------
    groups
        As `together` gives them. With fewer groups there are fewer folds.
    """
    number = int(max(some.max(initial=-1) for some in groups)) + 1
    numbers = np.random.default_rng(seed).permutation(number) % min(folds, number)
    return numbers[groups[0]], numbers[groups[1]]


def cross_fitted(reference: Texts, candidate: Texts, estimator: Estimator, folds: int, seed: int) -> LogProbabilities:
    """Score every text by estimates from the other folds; from those but one; and from the folds before its own.

    Where all texts of a side belong together, as those of a model that always writes the same, they are in one fold,
    and without it there is nothing to estimate from: no text has a score then, and there is no order.
    """
    sides = (reference, candidate)
    numbers = divide(together(reference, candidate, folds), folds, seed)
    folds = int(max(some.max() for some in numbers)) + 1
    others, before = _Scores.of(sides), _Scores.of(sides)
    if any(len(np.unique(some)) == 1 for some in numbers):
        return others.found()
    without = [_Scores.of(sides) for _ in range(folds)]
    estimated_from = np.zeros(folds, dtype=np.int64)
    fallback = 0
    for fold in progress(range(folds), f"cross-fit {estimator.name}", unit="folds"):
        inside = [np.flatnonzero(some == fold) for some in numbers]
        outside = [np.flatnonzero(some != fold) for some in numbers]
        found = _fit(sides, outside, estimator, (seed, fold))
        fallback += sum(len(getattr(each, "fallback_orders", ())) for each in found)
        others.score(found, sides, inside)
        earlier = [np.flatnonzero(some < fold) for some in numbers]
        estimated_from[fold] = min(map(len, earlier))
        if estimated_from[fold]:
            # Nothing comes after the last fold: all others are before it.
            found = found if fold == folds - 1 else _fit(sides, earlier, estimator, (seed, fold))
            before.score(found, sides, inside)
        for other in range(fold):
            neither = [np.flatnonzero((some != fold) & (some != other)) for some in numbers]
            if all(map(len, neither)):
                found = _fit(sides, neither, estimator, (seed, fold, other))
                without[other].score(found, sides, inside)
                without[fold].score(found, sides, [np.flatnonzero(some == other) for some in numbers])
    order = Order(numbers, estimated_from, partners(*group_labels(reference.keys, candidate.keys)))
    return LogProbabilities(*others.logs, fallback, order, before.found(), tuple(each.found() for each in without))


@dataclass(frozen=True)
class _Scores:
    """Log-probabilities that are filled in fold by fold: under p and q, of reference and candidate."""

    logs: tuple[tuple[Array, Array], tuple[Array, Array]]

    @classmethod
    def of(cls, sides: tuple[Texts, Texts]) -> "_Scores":
        """Nothing known as yet."""
        p, q = ((np.full(len(sides[0]), np.nan), np.full(len(sides[1]), np.nan)) for _ in range(2))
        return cls((p, q))

    def found(self) -> LogProbabilities:
        """What is known."""
        return LogProbabilities(*self.logs, fallback_orders=0)

    def score(
        self, found: tuple[Distribution, Distribution], sides: tuple[Texts, Texts], inside: list[Integers]
    ) -> None:
        """Score some texts of both sides under both distributions."""
        for logs, distribution in zip(self.logs, found, strict=True):
            for known, side, some in zip(logs, sides, inside, strict=True):
                if len(some):
                    known[some] = distribution.log_probabilities(_some(side, some))


def _fit(
    sides: tuple[Texts, Texts], rest: list[Integers], estimator: Estimator, key: tuple[int, ...]
) -> tuple[Distribution, Distribution]:
    """Estimates from some texts of either side, equally many."""
    rng, size = np.random.default_rng(key), min(map(len, rest))
    chosen = [
        _some(side, np.sort(rng.choice(some, size, replace=False))) for side, some in zip(sides, rest, strict=True)
    ]
    return estimator.fit(chosen[0], chosen[1], sum(key))


def in_sample(reference: Texts, candidate: Texts, estimator: Estimator, seed: int) -> LogProbabilities:
    """Score every text by estimates from all texts (published code)."""
    found = estimator.fit(reference.texts, candidate.texts, seed)
    logs = [(each.log_probabilities(reference.texts), each.log_probabilities(candidate.texts)) for each in found]
    fallback = sum(len(getattr(each, "fallback_orders", ())) for each in found)
    return LogProbabilities(logs[0], logs[1], fallback)


def _some(side: Texts, chosen: Integers) -> Sequence[str]:
    return [side.texts[i] for i in chosen]
