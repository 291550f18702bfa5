"""Cross-fitting: log-probabilities of texts under estimates that have not seen them.

An estimate overrates the probability of the texts that it was fitted to, so every divergence comes out too large. Hence
the texts are divided into folds, and those of a fold are scored by estimates from the other folds. For intervals, the
same is done leaving out each fold in turn. For tests, the texts of a fold are scored once more, by estimates from
earlier folds only (see `statistics.cross_fitted_tests`). The published code scores all texts by estimates from all.

An estimate from more texts is better, which a divergence would mistake for a difference. So both distributions are
estimated from equally many texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.strings.estimators import Distribution, Estimator
from macroscope.critics.strings.latents import Texts
from macroscope.document_keys import split_key
from macroscope.progress import progress
from macroscope.statistics.cross_fitted_tests import Folds, Order
from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import KEYS, Integers, group_labels, paired_groups
from macroscope.statistics.sampled_divergences import CrossFittedScores

_PARTS = ("prompt", "first_words")
"""Columns of the parts of an opening."""


@dataclass(frozen=True)
class LogProbabilities:
    """Log-probabilities in nats of the texts of reference and candidate.

    Attributes
    ----------
    log_p, log_q
        Log-probabilities under the estimates of the reference's and of the candidate's distribution.
    fallback_orders
        Number of n-gram orders, over all estimates, with fixed instead of estimated discounts.
    order
        Folds of all texts; None if the estimates have seen the texts, or if nothing could be estimated.
    earlier
        Log-probabilities under estimates from earlier folds only; nan in the first fold. None if `order` is.
    leave_one_out
        Log-probabilities without each fold in turn: its texts have nan, and are in no estimate. Empty if `order` is
        None.
    """

    log_p: tuple[Array, Array]
    log_q: tuple[Array, Array]
    fallback_orders: int
    order: Order | None = None
    earlier: "LogProbabilities | None" = None
    leave_one_out: tuple["LogProbabilities", ...] = ()

    @property
    def ratios(self) -> tuple[Array, Array]:
        """Return log p(x) - log q(x) of the texts of reference and candidate."""
        return self.log_p[0] - self.log_q[0], self.log_p[1] - self.log_q[1]

    @property
    def scored(self) -> CrossFittedScores | None:
        """Return the ratios under earlier folds and without each fold, for tests and intervals; None without folds."""
        if self.order is None or self.earlier is None:
            return None
        return CrossFittedScores(self.earlier.ratios, self.order, tuple(scores.ratios for scores in self.leave_one_out))


def group_texts(reference: Texts, candidate: Texts, folds: int) -> tuple[Integers, Integers]:
    """Group the texts that must be in the same fold; return the group's number of each text.

    A group has paired texts, equal texts, and texts with the same opening. An opening that is shared by more texts than
    half a fold is ignored, as it is a heading rather than a prompt.
    """
    # Empty keys do not pair texts, but empty texts are equal.
    sides = [keys.keys.assign(text=[f"={text}" for text in keys.texts]) for keys in (reference, candidate)]
    most = (len(reference) + len(candidate)) / (2 * folds)
    for part, name in enumerate(_PARTS):
        values = [pd.Series([split_key(key)[part] for key in keys["opening"]], keys.index) for keys in sides]
        counts = pd.concat(values).value_counts()
        limited = [value.where(value.map(counts) <= most) for value in values]
        sides = [keys.assign(**{name: value}) for keys, value in zip(sides, limited, strict=True)]
    return group_labels(sides[0], sides[1], (*KEYS, "text", *_PARTS))


def assign_folds(groups: tuple[Integers, Integers], folds: int, seed: int) -> tuple[Folds, Folds]:
    """Return the fold of each text, the same for all texts of a group, at random.

    Parameters
    ----------
    groups
        Groups of `group_texts`. If there are fewer groups than folds, the number of folds is that of the groups.
    """
    number = int(max(labels.max(initial=-1) for labels in groups)) + 1
    numbers = np.random.default_rng(seed).permutation(number) % min(folds, number)
    return numbers[groups[0]], numbers[groups[1]]


def score_cross_fitted(
    reference: Texts, candidate: Texts, estimator: Estimator, folds: int, seed: int
) -> LogProbabilities:
    """Score every text by estimates from the other folds, from all but one of these, and from earlier folds.

    If all texts of a collection are in one group, as those of a model that always generates the same text, they are in
    one fold, and nothing is left to estimate from: then all scores are nan, and `order` is None.
    """
    sides = (reference, candidate)
    numbers = assign_folds(group_texts(reference, candidate, folds), folds, seed)
    folds = int(max(folds_of_side.max() for folds_of_side in numbers)) + 1
    held_out, forward = _Scores.of(sides), _Scores.of(sides)
    if any(len(np.unique(folds_of_side)) == 1 for folds_of_side in numbers):
        return held_out.result()
    leave_one_out = [_Scores.of(sides) for _ in range(folds)]
    estimated_from = np.zeros(folds, dtype=np.int64)
    fallback = 0
    for fold in progress(range(folds), f"cross-fit {estimator.name}", unit="folds"):
        inside = [np.flatnonzero(folds_of_side == fold) for folds_of_side in numbers]
        outside = [np.flatnonzero(folds_of_side != fold) for folds_of_side in numbers]
        distributions = _fit(sides, outside, estimator, (seed, fold))
        fallback += sum(len(getattr(scores, "fallback_orders", ())) for scores in distributions)
        held_out.score(distributions, sides, inside)
        earlier = [np.flatnonzero(folds_of_side < fold) for folds_of_side in numbers]
        estimated_from[fold] = min(map(len, earlier))
        if estimated_from[fold]:
            # For the last fold, the earlier folds are all others.
            distributions = distributions if fold == folds - 1 else _fit(sides, earlier, estimator, (seed, fold))
            forward.score(distributions, sides, inside)
        for second in range(fold):
            rest = [np.flatnonzero((folds_of_side != fold) & (folds_of_side != second)) for folds_of_side in numbers]
            if all(map(len, rest)):
                distributions = _fit(sides, rest, estimator, (seed, fold, second))
                leave_one_out[second].score(distributions, sides, inside)
                leave_one_out[fold].score(
                    distributions, sides, [np.flatnonzero(folds_of_side == second) for folds_of_side in numbers]
                )
    order = Order(numbers, estimated_from, paired_groups(*group_labels(reference.keys, candidate.keys)))
    return LogProbabilities(
        *held_out.logs, fallback, order, forward.result(), tuple(scores.result() for scores in leave_one_out)
    )


@dataclass(frozen=True)
class _Scores:
    """Log-probabilities under p and q, of reference and candidate, which are filled in fold by fold."""

    logs: tuple[tuple[Array, Array], tuple[Array, Array]]

    @classmethod
    def of(cls, sides: tuple[Texts, Texts]) -> "_Scores":
        """Create scores that are all nan."""
        p, q = ((np.full(len(sides[0]), np.nan), np.full(len(sides[1]), np.nan)) for _ in range(2))
        return cls((p, q))

    def result(self) -> LogProbabilities:
        return LogProbabilities(*self.logs, fallback_orders=0)

    def score(
        self, distributions: tuple[Distribution, Distribution], sides: tuple[Texts, Texts], selections: list[Integers]
    ) -> None:
        """Score the selected texts of reference and candidate under both distributions."""
        for logs, distribution in zip(self.logs, distributions, strict=True):
            for values, texts, indices in zip(logs, sides, selections, strict=True):
                if len(indices):
                    values[indices] = distribution.log_probabilities(_select(texts, indices))


def _fit(
    sides: tuple[Texts, Texts], selections: list[Integers], estimator: Estimator, key: tuple[int, ...]
) -> tuple[Distribution, Distribution]:
    """Estimate both distributions from equally many of the selected texts."""
    rng, size = np.random.default_rng(key), min(map(len, selections))
    samples = [
        _select(texts, np.sort(rng.choice(indices, size, replace=False)))
        for texts, indices in zip(sides, selections, strict=True)
    ]
    return estimator.fit(samples[0], samples[1], sum(key))


def score_in_sample(reference: Texts, candidate: Texts, estimator: Estimator, seed: int) -> LogProbabilities:
    """Score every text by estimates from all texts (published code)."""
    distributions = estimator.fit(reference.texts, candidate.texts, seed)
    logs = [
        (distribution.log_probabilities(reference.texts), distribution.log_probabilities(candidate.texts))
        for distribution in distributions
    ]
    fallback = sum(len(getattr(distribution, "fallback_orders", ())) for distribution in distributions)
    return LogProbabilities(logs[0], logs[1], fallback)


def _select(texts: Texts, indices: Integers) -> Sequence[str]:
    return [texts.texts[i] for i in indices]
