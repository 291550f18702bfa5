"""One picture: systems x critics, one effect a cell on one scale, each with a verdict.

The effect is `c2st_auc` (`statistics.classifier_two_sample_test`): how often a judge that sees what the critic sees of single
documents picks the system's out of a pair with a real one. A system is *like real text* to a critic where the
interval ends at most a margin above chance, so that no larger difference is left; *unlike* where it lies wholly above
chance, and reaches beyond the margin; *inconclusive* else. A critic with a warning has its verdicts, but none of them
stands alone: see `Scorecard.standings`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.declaration import difference_tests
from macroscope.critics.findings import ReportItem
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.reporting.formats import estimate
from macroscope.reporting.headline import Chapter
from macroscope.reporting.ranking import worst_first
from macroscope.reporting.results import Results, rows_of
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, SMALLEST
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.systems import kinds

FILE = "scorecard.csv"
Verdict = Literal["like real text", "unlike", "inconclusive", "not usable", "too few texts"]
LIKE: Verdict = "like real text"
UNLIKE: Verdict = "unlike"
INCONCLUSIVE: Verdict = "inconclusive"
NOT_USABLE: Verdict = "not usable"
TOO_FEW: Verdict = "too few texts"
SIGNS: dict[Verdict, str] = {LIKE: "≈", UNLIKE: "≠", INCONCLUSIVE: "?", NOT_USABLE: "–", TOO_FEW: "–"}
"""What stands before a cell's number."""
VERDICTS: tuple[Verdict, ...] = (UNLIKE, LIKE, INCONCLUSIVE)
"""Those that say something."""
WARNING = "⚠"
CHECKS = "Checks: what the numbers do with texts of which the answer is known"
"""Over the rows of systems whose kind declares so (`systems.declaration.Kind`)."""
_RATIO = "latent_ppl_ratio"
COLUMNS = (
    *("corpus", "system", "check", "critic", "warned", "verdict", "c2st_auc", "ci_low", "ci_high", "p_value"),
    *("smallest", _RATIO, f"{_RATIO}_low", f"{_RATIO}_high"),
    *("n_reference", "n_candidate", "tests", "different", "signature"),
)
"""Columns of the picture; `check`: whether the system's kind is one; `warned`: whether the critic has a warning on the
corpus; `smallest`: the AUC that so many documents could have shown; the ratio is that to real text."""


@dataclass(frozen=True)
class Scorecard:
    """The picture of one corpus.

    Attributes
    ----------
    corpus
        Name.
    critics
        In the order of the config.
    rows
        System -> critic -> row of the picture; candidates, then checks, each the least like real text first, then real
        text itself by halves.
    declared
        Systems whose kind is declared a check.
    warned
        Critics that have a warning on this corpus.
    """

    corpus: str
    critics: list[str]
    rows: dict[str, dict[str, pd.Series]]
    declared: frozenset[str]
    warned: frozenset[str]

    @property
    def systems(self) -> list[str]:
        """Systems but for real text itself."""
        return [system for system in self.rows if system != SPLIT_HALF]

    @property
    def candidates(self) -> list[str]:
        """Systems in question; where there are only checks, these."""
        return [system for system in self.systems if system not in self.declared] or self.systems

    @property
    def checks(self) -> list[str]:
        """Checks beside the candidates."""
        return [system for system in self.systems if system not in self.candidates]

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """(heading or "", rows under it)."""
        groups = [
            ("", self.candidates),
            (CHECKS, self.checks),
            ("", [name for name in self.rows if name == SPLIT_HALF]),
        ]
        return [(heading, names) for heading, names in groups if names]

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

    @property
    def usable(self) -> list[str]:
        """Critics that can be used on this corpus, as far as they say so."""
        return [
            critic
            for critic in self.critics
            if any(critic in cells and cells[critic]["verdict"] != NOT_USABLE for cells in self.rows.values())
        ]

    def overall_verdict(self, system: str) -> Verdict:
        """All critics together: unlike real text to one, like it to all that can tell, or inconclusive.

        Not usable where none of them is. A critic with a warning leaves nothing open where another one without finds
        the system like real text.
        """
        if self.judged(system, UNLIKE):
            return UNLIKE
        like, unsure = self.judged(system, LIKE), self.judged(system, INCONCLUSIVE)
        if not self.warned.issuperset(like):
            unsure = [critic for critic in unsure if critic not in self.warned]
        if like and not unsure:
            return LIKE
        return NOT_USABLE if len(self.judged(system, NOT_USABLE)) == len(self.rows[system]) else INCONCLUSIVE

    def deciding_critics(self, system: str) -> list[str]:
        """Critics without a warning that a system's standing comes from."""
        return [critic for critic in self.judged(system, self.overall_verdict(system)) if critic not in self.warned]

    def is_only_warned(self, system: str) -> bool:
        """Whether a system's standing comes from critics with a warning alone."""
        overall_verdict = self.overall_verdict(system)
        return (
            overall_verdict in VERDICTS
            and bool(self.judged(system, overall_verdict))
            and not self.deciding_critics(system)
        )

    def overall_verdicts(self, verdict: Verdict, checks: bool = False, warned: bool = False) -> list[str]:
        """Candidates (or checks) of which all critics together say so, the least like real text first.

        Parameters
        ----------
        warned
            Those whose standing comes from critics with a warning alone, in place of the others.
        """
        systems = self.checks if checks else self.candidates
        return [
            name for name in systems if self.overall_verdict(name) == verdict and self.is_only_warned(name) == warned
        ]

    def indistinguishable_from(self, system: str) -> list[str]:
        """Candidates that are unlike real text, too, and that nothing shows to be any less so than this system.

        Some critic judged both, and to every such critic the intervals overlap: of how often they are told from real
        text, and of the ratio of latent PPL where both have it.
        """
        return [
            other for other in self.overall_verdicts(UNLIKE) if other != system and self._may_be_alike(system, other)
        ]

    def _may_be_alike(self, system: str, other: str) -> bool:
        own, others = self.rows[system], self.rows[other]
        shared = [
            critic for critic in own if critic in others and _has_verdict(own[critic]) and _has_verdict(others[critic])
        ]
        ends = [("ci_low", "ci_high"), (f"{_RATIO}_low", f"{_RATIO}_high")]
        apart = (
            one[low] > another[high] or another[low] > one[high]  # never of NaN
            for critic in shared
            for one, another in [(own[critic], others[critic])]
            for low, high in ends
        )
        return bool(shared) and not any(apart)

    def ratios(self, critic: str) -> dict[str, float]:
        """System -> latent PPL over real text's, to a critic; NaN or absent where it has none."""
        return {system: float(cells[critic][_RATIO]) for system, cells in self.rows.items() if critic in cells}


def verdict_of(value: float, low: float, high: float, margin: float) -> Verdict:
    """Verdict on an AUC with its interval; see the module."""
    if np.isnan(value):
        return TOO_FEW
    if high <= 0.5 + margin:
        return LIKE
    return UNLIKE if low > 0.5 else INCONCLUSIVE


def warned_chapters(items: Mapping[Chapter, Sequence[ReportItem]]) -> set[Chapter]:
    """Critics and corpora with a warning, as the critics' own items say."""
    return {chapter for chapter, contributed in items.items() if any(item.warning for item in contributed)}


def scorecard_table(
    results: Results, statistics: pd.DataFrame, unusable: set[Chapter], warned: set[Chapter]
) -> pd.DataFrame:
    """Every cell, `COLUMNS`; systems in the order of the config.

    Parameters
    ----------
    unusable
        Critics and corpora whose projection is not good enough for a verdict.
    warned
        Those that have a warning.
    """
    rows = []
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    for critic, corpus in results.plan.critics.chapters:
        own = rows_of(statistics, critic, corpus)
        smallest = own[own["statistic"] == SMALLEST].set_index("system")["value"]
        tests = difference_tests(critic_named(critic), own)
        for found in own[own["statistic"] == C2ST_AUC].to_dict("records"):
            adjusted = tests.loc[tests["system"] == found["system"], "p_adjusted"]
            verdict = verdict_of(
                found["value"], found["ci_low"], found["ci_high"], results.plan.config.statistics.margin
            )
            rows.append(
                {
                    **found,
                    **estimate(indexed, (corpus, found["system"], critic, _RATIO), _RATIO),
                    "check": _is_check(results, found["system"]),
                    "warned": (critic, corpus) in warned,
                    "c2st_auc": found["value"],
                    "verdict": NOT_USABLE if (critic, corpus) in unusable else verdict,
                    "smallest": smallest[found["system"]],
                    "tests": len(adjusted),
                    "different": int((adjusted < SIGNIFICANT).sum()),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _is_check(results: Results, system: str) -> bool:
    if system == SPLIT_HALF:
        return False
    return kinds()[results.plan.systems.all[system].kind].data.check


def scorecards(scorecard: pd.DataFrame) -> Iterator[Scorecard]:
    """The picture of every corpus, in the order of the config."""
    for corpus, cells in scorecard.groupby("corpus", sort=False):
        halves = cells["system"] == SPLIT_HALF
        groups = [cells[~halves & ~cells["check"]], cells[~halves & cells["check"]], cells[halves]]
        systems = [system for group in groups for system in _in_order(group)]
        rows = {name: {row["critic"]: row for _, row in cells[cells["system"] == name].iterrows()} for name in systems}
        warned = frozenset(cells.loc[cells["warned"], "critic"])
        yield Scorecard(str(corpus), list(cells["critic"].unique()), rows, frozenset(groups[1]["system"]), warned)


def _in_order(group: pd.DataFrame) -> list[str]:
    """Systems of a group, worst first; at the end those without a verdict."""
    judged = worst_first(group[group["verdict"].isin(VERDICTS)])
    return [*judged, *(name for name in group["system"].unique() if name not in judged)]


def _has_verdict(cell: pd.Series) -> bool:
    return cell["verdict"] in VERDICTS


def answer(corpora: Sequence[Scorecard]) -> str:
    """The whole run in one sentence: whether any system is like real text, and how many are not.

    A system counts once a corpus. Checks count where there are no systems but checks in the whole run.
    """
    asked = [matrix for matrix in corpora if set(matrix.candidates) - matrix.declared] or corpora
    noun = "system" if set(asked[0].candidates) - asked[0].declared else "check"
    where = f" on {len(asked)} corpora" if len(asked) > 1 else ""
    total = sum(len(matrix.candidates) for matrix in asked)
    like, unlike, still_open, unjudged = (
        sum(len(matrix.overall_verdicts(verdict)) for matrix in asked)
        for verdict in (LIKE, UNLIKE, INCONCLUSIVE, NOT_USABLE)
    )
    warned = total - like - unlike - still_open - unjudged
    if total == 1 and not (warned or unjudged):
        said = "is inconclusive: too few texts" if still_open else f"is {'like' if like else 'unlike'} real text"
        return f"The one {noun} that was judged {said}."
    if unlike == total:
        return f"None of the {total} {noun}s{where} is like real text: each is unlike it to one critic or more."
    others = [
        (number, what)
        for number, what in (
            (unlike, "unlike it to one critic or more"),
            (still_open, "inconclusive: too few texts"),
            (unjudged, "judged by no critic that is usable"),
            (warned, f"judged only by critics that carry a warning ({WARNING})"),
        )
        if number
    ]
    if total == 1:
        return f"The one {noun} is {others[0][1]}."
    first = (
        f"{_are(like)} like real text to every critic that can tell" if like else "none is shown to be like real text"
    )
    return (
        f"Of the {total} {noun}s{where} {'; '.join([first, *(f'{_are(number)} {what}' for number, what in others)])}."
    )


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def read_off(cell: pd.Series) -> str:
    """A cell as a person reads it: "≠ 93 % [88, 96]"; of real text against itself there is no verdict to read."""
    verdict: Verdict = cell["verdict"]
    if not _has_verdict(cell):
        return f"{SIGNS[verdict]} {verdict}"
    sign = "" if cell["system"] == SPLIT_HALF else f"{SIGNS[verdict]} "
    return f"{sign}{in_percent(cell['c2st_auc'])} [{percent(cell['ci_low'])}, {percent(cell['ci_high'])}]"


def in_percent(share: float) -> str:
    """A share beside a sign, of which "> 99 %" would seem to be a part: "over 99 %"."""
    return f"{percent(share)} %".replace("> ", "over ")


def percent(share: float) -> str:
    """A share as whole per cent; never 100 where it is less."""
    rounded = round(100 * share)
    return "> 99" if rounded == 100 and share < 1 else str(rounded)


def scorecard_text(scorecard: pd.DataFrame) -> str:
    """The picture for a terminal: a block a corpus, and what the signs mean."""
    blocks = []
    several = scorecard["corpus"].nunique() > 1
    for matrix in scorecards(scorecard):
        heads = {critic: f"{critic} {WARNING}" if critic in matrix.warned else critic for critic in matrix.critics}
        rows = []
        for heading, systems in matrix.groups:
            rows += [{"": heading.partition(":")[0] + ":"}] if heading else []
            rows += [_text_row(system, matrix.rows[system], heads) for system in systems]
        table = pd.DataFrame(rows, columns=["", *heads.values()]).fillna("")
        blocks.append((f"{matrix.corpus}\n" if several else "") + table.to_string(index=False))
    return "\n\n".join(blocks)


def _text_row(system: str, cells: dict[str, pd.Series], heads: dict[str, str]) -> dict[str, str]:
    found = {head: read_off(cells[critic]) for critic, head in heads.items() if critic in cells}
    return {"": NAMES.get(system, system), **found}


def legend(margin: float) -> str:
    """What the cells and signs of the picture in a terminal mean."""
    return (
        "Shown one text of the system and a real one, how often a judge that sees what the critic sees picks the"
        f" system's;\n50 % is chance. {SIGNS[UNLIKE]} unlike real text; {SIGNS[LIKE]} like it, at most {100 * margin:g}"
        f" points above chance; {SIGNS[INCONCLUSIVE]} inconclusive: too few texts; {WARNING} the critic has a warning."
    )


NAMES = {SPLIT_HALF: "real text against itself", CONTROL: "real text"}
"""System -> what a person reads."""
