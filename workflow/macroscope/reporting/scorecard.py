"""The scorecard: systems x critics, with one effect size per cell, all on one scale, and a verdict for each.

The effect size is the detectability `c2st_auc` (`statistics.classifier_two_sample_test`): how often a classifier with
the critic's features of single documents tells the system's document from a real one; 0.5 is chance. The verdict on a
system is

* *like real text* if the interval ends at most a margin above chance: any remaining difference is smaller;
* *unlike* if the interval lies above chance and reaches beyond the margin, and at least one of the critic's tests on
  the system, that of the detectability included, differs after adjustment;
* *inconclusive* otherwise.

A critic with a warning has verdicts too; see `Scorecard.systems_with_overall_verdict`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from macroscope.gaps import FAILED, SKIPPED, TOO_FEW, UNUSABLE, Kind
from macroscope.options import SPLIT_HALF
from macroscope.phrases import group_names
from macroscope.reporting.formats import format_percent, format_percent_inline
from macroscope.reporting.matched_length import MATCHED, MATCHED_COLUMNS, cell_at_matched_length
from macroscope.reporting.ranking import rank_systems
from macroscope.tables import read_csv

FILE = "scorecard.csv"
Verdict = Literal["like real text", "unlike", "inconclusive"] | Kind
LIKE: Verdict = "like real text"
UNLIKE: Verdict = "unlike"
INCONCLUSIVE: Verdict = "inconclusive"
EMPTY: tuple[Kind, ...] = (SKIPPED, FAILED)
"""Verdicts of cells without a comparison: no comparison of the config, or one whose job failed."""
SIGNS: dict[Verdict, str] = {LIKE: "≈", UNLIKE: "≠", INCONCLUSIVE: "?", UNUSABLE: "–", TOO_FEW: "–"}
FEWEST_PER_HALF = 50
"""Fewest real texts per half for a number of real text against itself. By chance, 95 % of the numbers of 50 texts
against 50 lie between 36 and 64 %; those of 20 against 20, between 28 and 72 %, look like a defect."""
TOO_FEW_TO_SAY = "too few to say"
INTERVAL_VERDICTS: tuple[Verdict, ...] = (UNLIKE, LIKE, INCONCLUSIVE)
WARNING = "⚠"
CHECKS = "Checks: texts for which the right answer is known"
"""Heading above the rows of systems whose kind is declared a check (`systems.declaration.Kind`)."""
RATIO = "latent_ppl_ratio"
COLUMNS = (
    *("corpus", "system", "check", "critic", "warned", "verdict", "reason", "explanation"),
    *("c2st_auc", "ci_low", "ci_high", "p_value"),
    *("smallest", RATIO, f"{RATIO}_low", f"{RATIO}_high"),
    *("n_reference", "n_candidate", "tests", "different", "signature"),
    *MATCHED_COLUMNS,
)
"""Columns of the scorecard, those at matched length at the end. `check`: the system's kind is a check; `warned`: the
critic has a warning on the corpus; `reason`, `explanation`: why there is no number, or none to use, in a few words for
the cell, and as the end of a sentence (of a verdict, what it may be about instead; what gives texts away begins with
`WARNING`); `smallest`: the minimum detectable AUC at this number of documents; the ratio is relative to real text."""


def read_scorecard(tables: Path) -> pd.DataFrame:
    """Read the scorecard table from the folder of the tables; cells that need no reason have ""."""
    table = read_csv(tables / FILE).reindex(columns=list(COLUMNS))
    texts = ["reason", "explanation", f"{MATCHED}_explanation"]
    table[texts] = table[texts].astype(object).fillna("")  # a column without any is one of numbers
    return table


def mark_names(names: Iterable[str], given_away_by: Mapping[str, str]) -> list[str]:
    """Return names of systems, with a warning sign if more than structure gives a system away."""
    return [f"{name} {WARNING}" if name in given_away_by else name for name in names]


@dataclass(frozen=True)
class Scorecard:
    """The scorecard of one corpus.

    Attributes
    ----------
    corpus
        Name of the corpus.
    critics
        Names of the critics with a number for some system, in the order of the config.
    rows
        System -> critic -> row of the scorecard table: candidates, then checks, each sorted from least to most like
        real text, then the split-half row of real text.
    declared
        Systems whose kind is declared a check.
    warned
        Critics with a warning on this corpus.
    empty
        System -> critic -> row of the scorecard table without a number (`EMPTY`), with its reason.
    """

    corpus: str
    critics: list[str]
    rows: dict[str, dict[str, pd.Series]]
    declared: frozenset[str]
    warned: frozenset[str]
    empty: Mapping[str, Mapping[str, pd.Series]] = field(default_factory=dict)

    @property
    def critics_without_numbers(self) -> list[str]:
        """Return the critics whose cells are all empty."""
        critics = dict.fromkeys(critic for cells in self.empty.values() for critic in cells)
        return [critic for critic in critics if critic not in self.critics]

    def cells(self, system: str) -> dict[str, pd.Series]:
        """Return critic -> cell of a system, the empty ones included."""
        return {**self.rows[system], **self.empty.get(system, {})}

    def empty_by_reason(self, system: str) -> dict[str, list[str]]:
        """Return reason -> critics without a number for a system: "skipped: it needs 20 texts"."""
        named = {critic: _note(cell) or format_cell(cell) for critic, cell in self.empty[system].items()}
        return group_names(named)

    @cached_property
    def notes(self) -> dict[str, int]:
        """Return text -> number of the notes on cells without a number or a verdict, or with a hint."""
        cells = (
            cell
            for system in self.rows
            for row in (self.cells(system), self.at_matched_length(system))
            for cell in row.values()
        )
        texts = dict.fromkeys(note for cell in cells if (note := _note(cell)))
        return {text: number for number, text in enumerate(texts, 1)}

    @property
    def has_wrapped(self) -> bool:
        """Return whether a verdict has a warning sign: more than structure gives its texts away."""
        return any(note.partition(": ")[2].startswith(WARNING) for note in self.notes)

    def note(self, cell: pd.Series) -> int | None:
        """Return the number of the note that explains a cell; None if it needs none."""
        return self.notes.get(_note(cell))

    @property
    def systems(self) -> list[str]:
        """Return all systems except real text."""
        return [system for system in self.rows if system != SPLIT_HALF]

    @property
    def candidates(self) -> list[str]:
        """Return the systems under evaluation; the checks if there are no other systems."""
        return [system for system in self.systems if system not in self.declared] or self.systems

    @property
    def checks(self) -> list[str]:
        """Return the checks that are not candidates."""
        return [system for system in self.systems if system not in self.candidates]

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """Return (heading or "", systems below it) for each group of rows."""
        groups = [
            ("", self.candidates),
            (CHECKS, self.checks),
            ("", [name for name in self.rows if name == SPLIT_HALF]),
        ]
        return [(heading, names) for heading, names in groups if names]

    def real_text(self, critic: str) -> pd.Series | None:
        """Return a critic's cell of real text against itself; None without its number."""
        cell = self.rows.get(SPLIT_HALF, {}).get(critic)
        return cell if cell is not None and _has_verdict(cell) else None

    @property
    def without_real_text(self) -> dict[str, list[str]]:
        """Return reason -> critics for which real text against itself has no number."""
        cells = self.rows.get(SPLIT_HALF, {})
        return group_names({name: cell["explanation"] for name, cell in cells.items() if not _has_verdict(cell)})

    @property
    def explanations(self) -> set[str]:
        """Return why cells have no number, or none to use."""
        return {cell["explanation"] for system in self.rows for cell in self.cells(system).values()}

    @property
    def n_documents(self) -> int:
        """Return the number of real documents, for the critic that evaluates most of them."""
        return max(int(cell["n_reference"]) for name in self.systems for cell in self.rows[name].values())

    def n_texts(self, system: str) -> int:
        """Return the number of texts of a system, for the critic that evaluates most of them."""
        return max(int(cell["n_candidate"]) for cell in self.rows[system].values())

    def critics_with_verdict(self, system: str, verdict: Verdict) -> list[str]:
        return [critic for critic, cell in self.rows[system].items() if cell["verdict"] == verdict]

    def systems_with_verdict(self, critic: str, verdict: Verdict) -> list[str]:
        return [system for system in self.systems if critic in self.critics_with_verdict(system, verdict)]

    @property
    def usable(self) -> list[str]:
        """Return the critics that are not marked as unusable on this corpus."""
        return [
            critic
            for critic in self.critics
            if any(critic in cells and cells[critic]["verdict"] != UNUSABLE for cells in self.rows.values())
        ]

    def overall_verdict(self, system: str) -> Verdict:
        """Combine the verdicts of all critics on a system.

        Unlike real text if any critic says so; like real text if at least one says so and none is inconclusive; not
        usable if no critic is usable; inconclusive otherwise. Inconclusive critics with a warning are ignored if a
        critic without one finds the system like real text.
        """
        if self.critics_with_verdict(system, UNLIKE):
            return UNLIKE
        like, unsure = self.critics_with_verdict(system, LIKE), self.critics_with_verdict(system, INCONCLUSIVE)
        if not self.warned.issuperset(like):
            unsure = [critic for critic in unsure if critic not in self.warned]
        if like and not unsure:
            return LIKE
        return UNUSABLE if len(self.critics_with_verdict(system, UNUSABLE)) == len(self.rows[system]) else INCONCLUSIVE

    def deciding_critics(self, system: str) -> list[str]:
        """Return the critics without a warning that determine a system's overall verdict."""
        return [
            critic
            for critic in self.critics_with_verdict(system, self.overall_verdict(system))
            if critic not in self.warned
        ]

    def is_only_warned(self, system: str) -> bool:
        """Return whether a system's overall verdict is determined by critics with a warning alone."""
        overall_verdict = self.overall_verdict(system)
        return (
            overall_verdict in INTERVAL_VERDICTS
            and bool(self.critics_with_verdict(system, overall_verdict))
            and not self.deciding_critics(system)
        )

    def systems_with_overall_verdict(self, verdict: Verdict, checks: bool = False, warned: bool = False) -> list[str]:
        """Return the candidates (or checks) with this overall verdict, the least like real text first.

        Parameters
        ----------
        verdict
            Overall verdict to select.
        checks
            Whether to return checks instead of candidates.
        warned
            Whether to return the systems whose verdict is determined by critics with a warning alone, instead of the
            others.
        """
        systems = self.checks if checks else self.candidates
        return [
            name for name in systems if self.overall_verdict(name) == verdict and self.is_only_warned(name) == warned
        ]

    def indistinguishable_from(self, system: str) -> list[str]:
        """Return the other candidates that are unlike real text and not shown to be less so than this system.

        At least one critic evaluated both systems, and for every such critic their intervals overlap: those of the
        detectability, and those of the latent PPL ratio if both have one.
        """
        return [
            name
            for name in self.systems_with_overall_verdict(UNLIKE)
            if name != system and self._intervals_overlap(system, name)
        ]

    def _intervals_overlap(self, system_a: str, system_b: str) -> bool:
        cells_a, cells_b = self.rows[system_a], self.rows[system_b]
        shared = [
            critic
            for critic in cells_a
            if critic in cells_b and _has_verdict(cells_a[critic]) and _has_verdict(cells_b[critic])
        ]
        ends = [("ci_low", "ci_high"), (f"{RATIO}_low", f"{RATIO}_high")]
        disjoint = (
            a[low] > b[high] or b[low] > a[high]  # false if a bound is NaN
            for critic in shared
            for a, b in [(cells_a[critic], cells_b[critic])]
            for low, high in ends
        )
        return bool(shared) and not any(disjoint)

    def at_matched_length(self, system: str) -> dict[str, pd.Series]:
        """Return critic -> cell of a system at matched length, for the critics that compare it so."""
        cells = {critic: cell_at_matched_length(cell) for critic, cell in self.rows[system].items()}
        return {critic: cell for critic, cell in cells.items() if cell is not None}

    def ratios(self, critic: str) -> dict[str, float]:
        """Return system -> ratio of its latent PPL to real text's for a critic; NaN or absent if undefined."""
        return {system: float(cells[critic][RATIO]) for system, cells in self.rows.items() if critic in cells}


def decide_verdict(value: float, low: float, high: float, margin: float, different: int) -> Verdict:
    """Return the verdict on an AUC with its interval; see the module's docstring for the rule.

    Parameters
    ----------
    different
        Number of the critic's tests on the system that differ after adjustment.
    """
    if np.isnan(value):
        return TOO_FEW
    if high <= 0.5 + margin:
        return LIKE
    return UNLIKE if low > 0.5 and different else INCONCLUSIVE


def is_too_few_to_say(system: str, n_reference: float, n_candidate: float) -> bool:
    """Return whether a comparison is of real text with itself, in halves of fewer than `FEWEST_PER_HALF` texts."""
    return system == SPLIT_HALF and min(n_reference, n_candidate) < FEWEST_PER_HALF


def without_empty_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the scorecard table with a comparison."""
    return table[~table["verdict"].isin(EMPTY)]


def build_scorecards(table: pd.DataFrame) -> Iterator[Scorecard]:
    """Yield the scorecard of every corpus, in the order of the config.

    Parameters
    ----------
    table
        Table made by `scorecard_table`.
    """
    for corpus, every in table.groupby("corpus", sort=False):
        cells = without_empty_cells(every)
        halves = cells["system"] == SPLIT_HALF
        groups = [cells[~halves & ~cells["check"]], cells[~halves & cells["check"]], cells[halves]]
        systems = [system for group in groups for system in _sort_systems(group)]
        warned = frozenset(cells.loc[cells["warned"], "critic"])
        critics, checks = list(cells["critic"].unique()), frozenset(groups[1]["system"])
        yield Scorecard(
            str(corpus),
            critics,
            _by_system(cells, systems),
            checks,
            warned,
            _by_system(every.drop(cells.index), systems),
        )


def _by_system(cells: pd.DataFrame, systems: Sequence[str]) -> dict[str, dict[str, pd.Series]]:
    """Return system -> critic -> row."""
    rows: dict[str, dict[str, pd.Series]] = {system: {} for system in systems}
    for _, row in cells.iterrows():
        rows[row["system"]][row["critic"]] = row
    return rows


def _sort_systems(group: pd.DataFrame) -> list[str]:
    """Sort the systems of a group, worst first, those without a verdict last."""
    ranked = rank_systems(group[group["verdict"].isin(INTERVAL_VERDICTS)])
    return [*ranked, *(name for name in group["system"].unique() if name not in ranked)]


def _has_verdict(cell: pd.Series) -> bool:
    return cell["verdict"] in INTERVAL_VERDICTS


def format_cell(cell: pd.Series) -> str:
    """Format a cell: "≠ 93 % [88, 96]"; without the sign of the verdict for real text against itself.

    A cell without a number has its reason: "skipped: needs 20 texts with section titles".
    """
    verdict: Verdict = cell["verdict"]
    if verdict in EMPTY:
        return f"{verdict}: {cell['reason']}" if cell["reason"] else verdict
    if verdict == TOO_FEW and cell["system"] == SPLIT_HALF:
        return TOO_FEW_TO_SAY
    if not _has_verdict(cell):
        return f"{SIGNS[verdict]} {verdict}"
    sign = "" if cell["system"] == SPLIT_HALF else f"{SIGNS[verdict]} "
    low, high = format_percent(cell["ci_low"]), format_percent(cell["ci_high"])
    warning = f" {WARNING}" if cell["explanation"].startswith(WARNING) else ""
    return f"{sign}{format_percent_inline(cell['c2st_auc'])} [{low}, {high}]{warning}"


def _note(cell: pd.Series) -> str:
    """Return the text of the note that explains a cell; "" if it needs none."""
    return f"{cell['verdict']}: {cell['explanation']}" if cell["explanation"] else ""
