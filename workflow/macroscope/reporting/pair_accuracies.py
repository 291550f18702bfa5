"""Pair accuracy of every number of a text in runs with `sensitivity`: whether it tells a text from its damaged copy."""

from dataclasses import astuple
from pathlib import Path

import pandas as pd

from macroscope.critics.attributions import read_scores
from macroscope.options import CONTROL
from macroscope.reporting.results import Results
from macroscope.statistics.pair_accuracy import PairAccuracy, measure_pair_accuracy
from macroscope.statistics.pairing_keys import OPENING
from macroscope.statistics.score_tables import read_document_numbers

SCORE = "score"
"""Name of the number that the stage `attribute` writes; other numbers have those of `statistics.score_tables`."""
COLUMNS = ("critic", "number", "damage", "dose")
ACCURACY = ("pair_accuracy", "pair_accuracy_low", "pair_accuracy_high", "n_pairs", "n_ties")
"""Columns of `statistics.pair_accuracy`."""


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
