"""One picture: systems x critics, one effect a cell on one scale, each with a verdict.

The effect is `told_apart` (`statistics.telling_apart`): how often a judge that sees what the critic sees of single
documents picks the system's out of a pair with a real one. A system is *like real text* to a critic where the interval
lies wholly within a margin of chance, so that no larger difference is left; *unlike* where it lies wholly above chance,
and not within the margin; *inconclusive* else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from macroscope.config.options import CONTROL, SPLIT_HALF
from macroscope.critics import critic_named
from macroscope.critics.declaration import difference_tests
from macroscope.reporting.headline import Chapter
from macroscope.reporting.results import Results, rows_of
from macroscope.statistics.telling_apart import SMALLEST, TOLD_APART
from macroscope.statistics.tidy import SIGNIFICANT

FILE = "picture.csv"
Verdict = Literal["like real text", "unlike", "inconclusive", "not usable", "too few texts"]
LIKE: Verdict = "like real text"
UNLIKE: Verdict = "unlike"
INCONCLUSIVE: Verdict = "inconclusive"
NOT_USABLE: Verdict = "not usable"
TOO_FEW: Verdict = "too few texts"
SIGNS: dict[Verdict, str] = {LIKE: "≈", UNLIKE: "≠", INCONCLUSIVE: "?", NOT_USABLE: "–", TOO_FEW: "–"}
"""What stands before a cell's number."""
COLUMNS = (
    *("corpus", "system", "critic", "verdict", "told_apart", "ci_low", "ci_high", "p_value", "smallest"),
    *("n_reference", "n_candidate", "tests", "different", "signature"),
)
"""Columns of the picture; `smallest`: the AUC that so many documents could have shown."""


@dataclass(frozen=True)
class Matrix:
    """The picture of one corpus.

    Attributes
    ----------
    corpus
        Name.
    critics
        In the order of the config.
    rows
        System -> critic -> row of the picture; the least like real text first, then real text itself by halves.
    """

    corpus: str
    critics: list[str]
    rows: dict[str, dict[str, pd.Series]]

    @property
    def systems(self) -> list[str]:
        """Systems but for real text itself."""
        return [system for system in self.rows if system != SPLIT_HALF]

    @property
    def documents(self) -> int:
        """Real documents that the systems are held against, to the critic that judges most."""
        return max(int(cell["n_reference"]) for name in self.systems for cell in self.rows[name].values())

    def texts(self, system: str) -> int:
        """Texts of a system that are judged, by the critic that judges most."""
        return max(int(cell["n_candidate"]) for cell in self.rows[system].values())

    def judged(self, system: str, verdict: Verdict) -> list[str]:
        """Critics with a verdict on a system."""
        return [critic for critic, cell in self.rows[system].items() if cell["verdict"] == verdict]

    def of_verdict(self, critic: str, verdict: Verdict) -> list[str]:
        """Systems on which a critic has a verdict, in the order of the rows."""
        return [system for system in self.systems if critic in self.judged(system, verdict)]

    def standing(self, system: str) -> Verdict:
        """All critics together: unlike real text to one, like it to all that have a verdict, or inconclusive."""
        if self.judged(system, UNLIKE):
            return UNLIKE
        return LIKE if self.judged(system, LIKE) and not self.judged(system, INCONCLUSIVE) else INCONCLUSIVE

    def standings(self, verdict: Verdict) -> list[str]:
        """Systems of which all critics together say so, the least like real text first."""
        return [system for system in self.systems if self.standing(system) == verdict]


def verdict_of(value: float, low: float, high: float, margin: float) -> Verdict:
    """Verdict on an AUC with its interval; see the module."""
    if np.isnan(value):
        return TOO_FEW
    if high <= 0.5 + margin:
        return LIKE
    return UNLIKE if low > 0.5 else INCONCLUSIVE


def picture_table(results: Results, statistics: pd.DataFrame, unusable: set[Chapter]) -> pd.DataFrame:
    """Every cell, `COLUMNS`; systems in the order of the config.

    Parameters
    ----------
    unusable
        Critics and corpora whose projection is not good enough for a verdict.
    """
    rows = []
    for critic, corpus in results.plan.critics.chapters:
        own = rows_of(statistics, critic, corpus)
        smallest = own[own["statistic"] == SMALLEST].set_index("system")["value"]
        tests = difference_tests(critic_named(critic), own)
        for found in own[own["statistic"] == TOLD_APART].to_dict("records"):
            adjusted = tests.loc[tests["system"] == found["system"], "p_adjusted"]
            verdict = verdict_of(
                found["value"], found["ci_low"], found["ci_high"], results.plan.config.statistics.margin
            )
            rows.append(
                {
                    **found,
                    "told_apart": found["value"],
                    "verdict": NOT_USABLE if (critic, corpus) in unusable else verdict,
                    "smallest": smallest[found["system"]],
                    "tests": len(adjusted),
                    "different": int((adjusted < SIGNIFICANT).sum()),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def matrices(picture: pd.DataFrame) -> Iterator[Matrix]:
    """The picture of every corpus, in the order of the config."""
    for corpus, cells in picture.groupby("corpus", sort=False):
        judged = cells[cells["verdict"] != NOT_USABLE]
        apart = judged.groupby("system")["told_apart"].mean()
        systems = sorted(cells["system"].unique(), key=lambda name: (name == SPLIT_HALF, -apart.get(name, -np.inf)))
        rows = {name: {row["critic"]: row for _, row in cells[cells["system"] == name].iterrows()} for name in systems}
        yield Matrix(str(corpus), list(cells["critic"].unique()), rows)


def read_off(cell: pd.Series) -> str:
    """A cell as a person reads it: "≠ 93 % [88, 96]"."""
    verdict: Verdict = cell["verdict"]
    if verdict in (NOT_USABLE, TOO_FEW):
        return f"{SIGNS[verdict]} {verdict}"
    return f"{SIGNS[verdict]} {percent(cell['told_apart'])} % [{percent(cell['ci_low'])}, {percent(cell['ci_high'])}]"


def percent(share: float) -> str:
    """A share as whole per cent; never 100 where it is less."""
    rounded = round(100 * share)
    return "> 99" if rounded == 100 and share < 1 else str(rounded)


def picture_text(picture: pd.DataFrame) -> str:
    """The picture for a terminal: a block a corpus, and what the signs mean."""
    blocks = []
    several = picture["corpus"].nunique() > 1
    for matrix in matrices(picture):
        rows = [
            {"": NAMES.get(system, system)}
            | {critic: read_off(cells[critic]) if critic in cells else "" for critic in matrix.critics}
            for system, cells in matrix.rows.items()
        ]
        blocks.append((f"{matrix.corpus}\n" if several else "") + pd.DataFrame(rows).to_string(index=False))
    return "\n\n".join(blocks)


def legend(margin: float) -> str:
    """What the cells and signs of the picture in a terminal mean."""
    return (
        "Shown one text of the system and a real one, how often a judge that sees what the critic sees picks the"
        f" system's;\n50 % is chance. {SIGNS[UNLIKE]} unlike real text; {SIGNS[LIKE]} like it, within {100 * margin:g}"
        f" points of chance; {SIGNS[INCONCLUSIVE]} inconclusive: too few texts."
    )


NAMES = {SPLIT_HALF: "real text against itself", CONTROL: "real text"}
"""System -> what a person reads."""
