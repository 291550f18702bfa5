"""Write the tables of docs/pairs.md anew, from the runs of the configs beside this file.

    python examples/pairs/tables.py results docs/pairs.md

The runs are results/pairs-articles, results/pairs-stories and results/pairs-sections. The table of a run that is absent
keeps its entries. Prints how many texts have a number, the harmless change that it picks most often, and its pairs with
exchanged names whose texts differ.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import read_scores
from macroscope.critics.latents import read_numbers
from macroscope.documents import read_documents
from macroscope.statistics.pair_accuracy import PairAccuracy, measure_pair_accuracy
from macroscope.systems.perturbation.steps import DAMAGES

NUMBERS = {
    "tendencies": ("tendencies", None),
    "strings": ("strings", None),
    "topics": ("topics", None),
    "patchiness": ("topics", "patchiness"),
    "coreference": ("coreference", None),
    "names": ("coreference", "name_mismatch"),
    "narrative": ("narrative", None),
    "order": ("narrative", "order"),
}
"""Head of a column -> critic, and column of its latents; None: the critic's one number of a text."""
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
TABLES = {"138 short articles": "articles", "171 stories": "stories"}
"""Beginning of the paragraph above a table of all numbers -> corpus."""
RULES = "| critic, rule |"
"""Beginning of the head of the second table."""
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
        first, second = (((side - intact.mean()) / intact.std()).max(axis=1) for side in (intact, damaged))
        return _compare(first, second)

    def changed(self, damage: str) -> list[str]:
        """List the ids of the texts that the damage changes."""
        (corpus,) = self.folder.glob("corpora/*/documents.parquet")
        intact = {document.id: document.text for document in read_documents(corpus, "test")}
        damaged = read_documents(self.folder / "systems" / self.corpus / f"{damage}{DOSE}" / "samples.parquet")
        return [document.id for document in damaged if document.text != intact[document.id]]


def main(results: Path, page: Path) -> None:
    """Rewrite the page."""
    runs = {path.name.removeprefix("pairs-"): Run(path) for path in sorted(results.glob("pairs-*")) if path.is_dir()}
    page.write_text("\n".join(rewrite(page.read_text(encoding="utf-8").split("\n"), runs)), encoding="utf-8")
    for name, run in runs.items():
        print(name, *(summarise(run) if name in TABLES.values() else list_coherence(run)), sep="\n  ")


def rewrite(lines: list[str], runs: Mapping[str, Run]) -> Iterator[str]:
    """Yield the lines of the page with new entries."""
    above, number = "", 0
    while number < len(lines):
        line = lines[number]
        is_head = number + 1 < len(lines) and re.fullmatch(r"\|[-| ]+\|", lines[number + 1])
        if not is_head and line and (number == 0 or not lines[number - 1]):
            above = line
        number += 1
        yield line
        if not is_head:
            continue
        yield lines[number]
        end = next(n for n in range(number + 1, len(lines) + 1) if n == len(lines) or not lines[n].startswith("|"))
        rows, number = lines[number + 1 : end], end
        corpus = next((corpus for words, corpus in TABLES.items() if above.startswith(words)), "")
        if line.startswith("| kind | damage |") and corpus in runs:
            yield from fill_all_numbers(rows, runs[corpus])
        elif line.startswith(RULES) and set(TABLES.values()) <= set(runs):
            yield from list_rules([runs[name] for name in TABLES.values()])
        else:
            yield from rows


def fill_all_numbers(rows: list[str], run: Run) -> Iterator[str]:
    """Yield the rows of a table of all numbers."""
    for row in rows:
        kind, damage = (cell.strip() for cell in row.strip("|").split("|")[:2])
        name = damage.strip("`")
        cells = (describe(run.compare(number, name), DAMAGES[name].is_harmless) for number in NUMBERS)
        yield f"| {' | '.join([kind, damage, *cells])} |".replace("|  |", "| |")


def list_rules(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the rows of the table of joined numbers: a cell has the damages of `RULE_DAMAGES`, of each run."""
    for number, further in JOINED.items():
        rules = {
            "its number": lambda run, damage, name=number: run.compare(name, damage),
            f"*{further}* alone": lambda run, damage, name=further: run.compare(name, damage),
            "the larger one": lambda run, damage, name=number: run.compare_larger(name, damage),
        }
        for rule, measure in rules.items():
            cells = [
                "; ".join(", ".join(f"{100 * measure(run, d).value:.0f}" for d in damages) for run in runs)
                for damages in RULE_DAMAGES
            ]
            harmless = [max(measure(run, d).value for d in run.damages() if DAMAGES[d].is_harmless) for run in runs]
            cells.append("; ".join(f"{100 * share:.0f}" for share in harmless))
            yield f"| {' | '.join([f'*{NUMBERS[number][0]}*: {rule}', *cells])} |"


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
    for number in NUMBERS:
        compared = {d: run.compare(number, d) for d in run.damages() if DAMAGES[d].is_harmless}
        worst = max(compared, key=lambda damage: compared[damage].value)
        texts = int(np.isfinite(run.numbers(*NUMBERS[number], CONTROL)).sum())
        yield f"{number}: {texts} texts; harmless at most {describe(compared[worst], True)} ({worst})"
    ids = run.changed(NAMES)
    for number in NUMBERS:
        accuracy = run.compare(number, NAMES, ids)
        yield f"{NAMES}, texts that differ: {number} {describe(accuracy, False)} of {accuracy.n}"


def list_coherence(run: Run) -> Iterator[str]:
    """Yield a sentence per damage of the run of sections."""
    for damage in run.damages():
        accuracy = _compare(*(run.numbers("coherence", None, system) for system in (CONTROL, f"{damage}{DOSE}")))
        yield f"{damage}: {describe(accuracy, DAMAGES[damage].is_harmless)} of {accuracy.n}"


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
    main(Path(sys.argv[1]), Path(sys.argv[2]))
