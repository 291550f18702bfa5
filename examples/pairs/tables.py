"""Write the tables of pairs and of joined numbers anew, from the runs of these configs.

    python examples/pairs/tables.py results docs/data/pairs.csv docs/data/joined-numbers.csv

The runs are results/pairs-articles, results/pairs-stories and results/pairs-sections. Entries of a run that is absent
stay. Prints how many texts have a number, the harmless change that it picks most often, and its pairs with exchanged
names whose texts differ.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import read_scores
from macroscope.critics.latents import read_numbers
from macroscope.documents import read_documents
from macroscope.reporting.sensitivity import PairAccuracy, measure_pair_accuracy
from macroscope.systems.perturbation import DAMAGES

NUMBERS = {
    "coherence": ("coherence", None),
    "tendencies": ("tendencies", None),
    "strings": ("strings", None),
    "topics": ("topics", None),
    "patchiness": ("topics", "patchiness"),
    "coreference": ("coreference", None),
    "names": ("coreference", "name_mismatch"),
    "narrative": ("narrative", None),
    "order": ("narrative", "order"),
}
"""Number -> critic, and column of its latents; None: the critic's one number of a text."""
JOINED = {"topics": "patchiness", "coreference": "names", "narrative": "order"}
"""Number -> further number of its critic; the rules of the second table join both."""
NAMES = "swap_entities"
"""Damage that leaves many texts as they are, which are ties."""
RULE_DAMAGES = (
    ("splice_documents", "drift_topic"),
    ("repeat_sentences",),
    ("shuffle_sentences", "shuffle_blocks"),
    (NAMES,),
)
"""Damages of each column of the second table."""
TEXTS = ("articles", "stories")
SECTIONS = "sections"
"""Run of the number of coherence, of articles."""
GOAL, MOST_HARMLESS, MANY_TIES = 70, 55, 20
"""Percent."""
DOSE = "-25"
CONTROL, WITHOUT_PAIRS = "control", "shuffle_documents"


class Run:
    """Numbers of the intact and the damaged texts of a finished run."""

    def __init__(self, folder: Path) -> None:
        (self.corpus,) = (path.name for path in (folder / "corpora").iterdir() if path.is_dir())
        self.folder = folder

    def damages(self) -> list[str]:
        """List the damages of single texts, in the order of the project's list."""
        systems = self.folder / "systems" / self.corpus
        return [name for name in DAMAGES if name != WITHOUT_PAIRS and (systems / f"{name}{DOSE}").is_dir()]

    def numbers(self, critic: str, column: str | None, system: str) -> pd.Series:
        """Read a number of each text, by id."""
        return _read_numbers(self.folder / "critics" / critic / self.corpus, column, system)

    def compare(self, number: str, damage: str, ids: Sequence[str] | None = None) -> PairAccuracy:
        """Compare a number of the texts, or of some, with that of their damaged copies."""
        intact, damaged = (self.numbers(*NUMBERS[number], system) for system in (CONTROL, f"{damage}{DOSE}"))
        return _compare(intact, damaged if ids is None else damaged.reindex(ids))

    def compare_larger(self, number: str, damage: str) -> PairAccuracy:
        """Compare the larger of a critic's two numbers, each in standard deviations of the intact texts."""
        intact, damaged = (
            pd.DataFrame({name: self.numbers(*NUMBERS[name], system) for name in (number, JOINED[number])})
            for system in (CONTROL, f"{damage}{DOSE}")
        )
        first, second = (((numbers - intact.mean()) / intact.std()).max(axis=1) for numbers in (intact, damaged))
        return _compare(first, second)

    def changed(self, damage: str) -> list[str]:
        """List the ids of the texts that the damage changes."""
        (corpus,) = self.folder.glob("corpora/*/documents.parquet")
        intact = {document.id: document.text for document in read_documents(corpus, "test")}
        damaged = read_documents(self.folder / "systems" / self.corpus / f"{damage}{DOSE}" / "samples.parquet")
        return [document.id for document in damaged if document.text != intact[document.id]]


def main(results: Path, table: Path, joined: Path) -> None:
    """Rewrite the table of pairs, and that of joined numbers."""
    runs = {path.name.removeprefix("pairs-"): Run(path) for path in sorted(results.glob("pairs-*")) if path.is_dir()}
    rows = pd.read_csv(table, dtype=str, keep_default_na=False).to_dict("records")
    pd.DataFrame([fill(row, runs) for row in rows]).to_csv(table, index=False)
    if set(TEXTS) <= set(runs):
        head = pd.read_csv(joined, nrows=0).columns
        pd.DataFrame(list_rules([runs[name] for name in TEXTS]), columns=head).to_csv(joined, index=False)
    for name in TEXTS:
        if name in runs:
            print(name, *summarise(runs[name]), sep="\n  ")


def fill(row: dict[str, str], runs: Mapping[str, Run]) -> dict[str, str]:
    """Fill a row of the table if its run is there: shares of pairs in percent, and of ties if these are many."""
    name = SECTIONS if row["number"] == "coherence" else row["texts"]
    if name not in runs:
        return row
    accuracy = runs[name].compare(row["number"], row["damage"])
    shares = (accuracy.value, accuracy.low, accuracy.high, accuracy.ties / accuracy.n)
    percent, low, high, tied = (f"{round(100 * share)}" for share in shares)
    if accuracy.n == accuracy.ties:
        low, high = "", ""
    return {**row, "percent": percent, "low": low, "high": high, "tied": tied if int(tied) >= MANY_TIES else ""}


def list_rules(runs: Sequence[Run]) -> Iterator[list[str]]:
    """Yield the rows of the table of joined numbers: a cell has the damages of `RULE_DAMAGES`, of each run."""
    for number, further in JOINED.items():
        rules = {
            "its number": lambda run, damage, name=number: run.compare(name, damage),
            f"{further} alone": lambda run, damage, name=further: run.compare(name, damage),
            "the larger one": lambda run, damage, name=number: run.compare_larger(name, damage),
        }
        for rule, measure in rules.items():
            cells = [
                "; ".join(", ".join(f"{100 * measure(run, d).value:.0f}" for d in damages) for run in runs)
                for damages in RULE_DAMAGES
            ]
            harmless = [max(measure(run, d).value for d in run.damages() if DAMAGES[d].is_harmless) for run in runs]
            cells.append("; ".join(f"{100 * share:.0f}" for share in harmless))
            yield [f"{NUMBERS[number][0]}: {rule}", *cells]


def describe(accuracy: PairAccuracy, is_harmless: bool) -> str:
    """Format a share of pairs in percent, with its interval and many ties."""
    if accuracy.n == accuracy.ties:
        return "tied"
    value, low, high = (round(100 * share) for share in (accuracy.value, accuracy.low, accuracy.high))
    stands_out = value > MOST_HARMLESS if is_harmless else value >= GOAL
    ties = round(100 * accuracy.ties / accuracy.n)
    return f"{f'**{value}**' if stands_out else value} [{low}, {high}]{f', {ties} % tied' if ties >= MANY_TIES else ''}"


def summarise(run: Run) -> Iterator[str]:
    """Yield sentences per number: texts that have it, harmless changes, and names in the texts where they changed."""
    for number in list(NUMBERS)[1:]:
        compared = {d: run.compare(number, d) for d in run.damages() if DAMAGES[d].is_harmless}
        worst = max(compared, key=lambda damage: compared[damage].value)
        texts = int(np.isfinite(run.numbers(*NUMBERS[number], CONTROL)).sum())
        yield f"{number}: {texts} texts; harmless at most {describe(compared[worst], True)} ({worst})"
    ids = run.changed(NAMES)
    for number in list(NUMBERS)[1:]:
        accuracy = run.compare(number, NAMES, ids)
        yield f"{NAMES}, texts that differ: {number} {describe(accuracy, False)} of {accuracy.n}"


@cache
def _read_numbers(folder: Path, column: str | None, system: str) -> pd.Series:
    if column is None:
        ids, scores, _ = read_scores(folder / "attributions" / f"{system}.parquet")
        return pd.Series(scores, index=ids)
    keys, columns = read_numbers(folder / "latents" / f"{system}.parquet")
    return pd.Series(columns[column].to_numpy(float), index=keys["id"].astype(str))


def _compare(intact: pd.Series, damaged: pd.Series) -> PairAccuracy:
    return measure_pair_accuracy(intact.reindex(damaged.index), damaged)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
