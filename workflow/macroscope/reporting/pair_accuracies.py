"""Pair accuracy of every number of a text in runs with `sensitivity`: whether it tells a text from its damaged copy."""

from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from macroscope.critics.attributions import read_scores
from macroscope.options import CONTROL
from macroscope.reporting.results import Results
from macroscope.statistics.document_groups import OPENING
from macroscope.statistics.p_values import TIE
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.score_tables import read_document_numbers


@dataclass(frozen=True)
class PairAccuracy:
    """Share of pairs in which the damaged text has the larger number; a tie counts half.

    Attributes
    ----------
    value, low, high
        Share, in [0, 1], with its Wilson interval; 0.5 is chance. NaN if there is no pair.
    n
        Number of pairs in which both texts have a number.
    ties
        Number of pairs whose texts have equal numbers.
    """

    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    ties: int = 0


def measure_pair_accuracy(intact: ArrayLike, damaged: ArrayLike, confidence: float = 0.95) -> PairAccuracy:
    """Compute the share of pairs in which the damaged text has the larger number.

    Parameters
    ----------
    intact, damaged
        Number of each text, in the order of the pairs; larger is less like real text. A pair with a NaN does not count.
        Infinite numbers are equal.
    confidence
        Level of the interval, which takes a tie as half a success of a trial: it is too wide if many pairs are tied.
    """
    first, second = np.asarray(intact, dtype=float), np.asarray(damaged, dtype=float)
    is_judged = ~(np.isnan(first) | np.isnan(second))
    first, second = first[is_judged], second[is_judged]
    n = len(first)
    if not n:
        return PairAccuracy()
    is_tied = np.isclose(first, second, rtol=TIE, atol=TIE)
    ties = int(is_tied.sum())
    successes = int((second > first)[~is_tied].sum()) + ties / 2
    low, high = wilson_interval(successes, n, confidence)
    return PairAccuracy(successes / n, float(low), float(high), n, ties)


SCORE = "score"
"""Name of the number that the stage `attribute` writes; other numbers have those of `statistics.score_tables`."""
COLUMNS = ("critic", "number", "damage", "dose")
ACCURACY = ("pair_accuracy", "pair_accuracy_low", "pair_accuracy_high", "n_pairs", "n_ties")
"""Columns of `measure_pair_accuracy`."""


def tabulate_pairs(results: Results) -> pd.DataFrame:
    """Tabulate the accuracy over pairs of each number of a document, against each damage and dose.

    The direction of a number is the same for all damages: larger is damaged.

    Returns
    -------
    data frame
        `COLUMNS` and `ACCURACY`, of the critics that score each document by itself (`Critic.scores_documents`), and
        without the systems for which a critic failed.
    """
    block, plan = results.plan.config.sensitivity, results.plan.reporting
    assert block is not None  # only such a run has this table
    attributions, scores = plan.attributions(), plan.scores_of_documents()

    def numbers(critic: str, system: str) -> pd.DataFrame:
        key = critic, block.corpus, system
        return read_numbers(results.local(attributions[key]), results.local(scores[key]) if key in scores else None)

    rows = []
    for critic, _ in results.plan.critics.chapters:
        if not results.plan.critics.declared(critic).scores_documents:
            continue
        intact = numbers(critic, CONTROL)
        for system, damage, dose in block.cells():
            if (critic, block.corpus, system) not in attributions:
                continue
            damaged = numbers(critic, system)
            accuracies = compare_pairs(intact, damaged, results.plan.config.statistics.confidence)
            rows += [(critic, name, damage, dose, *astuple(accuracy)) for name, accuracy in accuracies.items()]
    return pd.DataFrame(rows, columns=[*COLUMNS, *ACCURACY])


def read_numbers(attributions: Path, scores: Path | None) -> pd.DataFrame:
    """Read the score and the further numbers of each document, by id; `scores` is None for a critic without a prior."""
    ids, values, _ = read_scores(attributions)
    table = pd.DataFrame({SCORE: values}, index=pd.Index(ids, name="id"))
    if scores is None:
        return table
    return table.join(read_document_numbers(scores).set_index("id").drop(columns=OPENING, errors="ignore"))


def compare_pairs(intact: pd.DataFrame, damaged: pd.DataFrame, confidence: float) -> dict[str, PairAccuracy]:
    """Return the accuracy of each number over the documents of the same ids; none for a number without a pair."""
    twins = intact.reindex(damaged.index)
    accuracies = {str(name): measure_pair_accuracy(twins[name], damaged[name], confidence) for name in damaged}
    return {name: accuracy for name, accuracy in accuracies.items() if accuracy.n}
