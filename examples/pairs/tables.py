"""Measure how often the use of names picks the damaged one of two texts, in a run of docs/pairs.md.

    python examples/pairs/names.py results/pairs-articles

Prints a row per damage: share of pairs, with its 95 % interval, of all pairs and of those whose texts differ.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from macroscope.critics.coreference.name_use import measure_name_mismatch
from macroscope.documents import read_documents
from macroscope.statistics.pair_accuracy import PairAccuracy, measure_pair_accuracy


def main(run: Path) -> None:
    """Print the table."""
    (corpus,) = run.glob("corpora/*/documents.parquet")
    intact = {document.id: document.text for document in read_documents(corpus, "test")}
    numbers = {name: measure_name_mismatch(text) for name, text in intact.items()}
    for path in sorted(run.glob("systems/*/*/samples.parquet")):
        damaged = {document.id: document.text for document in read_documents(path)}
        changed = {name for name, text in damaged.items() if text != intact[name]}
        every, differing = (compare(numbers, {name: damaged[name] for name in names}) for names in (damaged, changed))
        print(f"{path.parent.name:28} all {describe(every):42} changed {describe(differing)}")


def compare(intact: Mapping[str, float], damaged: Mapping[str, str]) -> PairAccuracy:
    """Compare the number of each text with that of its damaged copy."""
    return measure_pair_accuracy(
        np.array([intact[name] for name in damaged]),
        np.array([measure_name_mismatch(text) for text in damaged.values()]),
    )


def describe(accuracy: PairAccuracy) -> str:
    """Format a share of pairs in percent."""
    value, low, high = (
        round(100 * share) if accuracy.n else "-" for share in (accuracy.value, accuracy.low, accuracy.high)
    )
    return f"{value} [{low}, {high}] of {accuracy.n}, tied {accuracy.ties}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
