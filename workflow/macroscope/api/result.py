"""The result of a comparison: scorecard, statistics and documents as data frames, and the report."""

import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd

from macroscope.critics.attributions import read_attributions
from macroscope.files import atomic
from macroscope.options import READABLE_NAMES
from macroscope.plan import Plan
from macroscope.reporting.scorecard import build_scorecards, format_cell
from macroscope.reporting.scorecard_text import render_legend, render_scorecard
from macroscope.reporting.tables import read_scorecard, read_statistics, read_warnings

_REPORT = ("report.html", "pages", "reader", "figures", "tables")
"""Files and folders of a report; the page and the folders refer to each other."""


class Comparison:
    """The result of `macroscope.compare`.

    Printed, it is the scorecard as text; a notebook shows it as a table.

    Parameters
    ----------
    plan
        Plan of the run.
    folder
        Folder with its files.
    reasons
        Sentences about the critics that are left out.
    make_report
        Function that makes the run's report in the folder.
    """

    def __init__(self, plan: Plan, folder: Path, reasons: list[str], make_report: Callable[[], None]) -> None:
        self._plan, self._make_report = plan, make_report
        self.folder, self.reasons = folder, reasons

    @cached_property
    def scorecard(self) -> pd.DataFrame:
        """The picture: a row per system, the least like real text first, and a column per critic.

        A cell is a sign and the detectability with its interval: "≠ 71 % [65, 76]". Half of real text against the other
        half is the last row.
        """
        (scorecard,) = build_scorecards(self.detectability)
        rows = {
            READABLE_NAMES.get(system, system): {
                critic: format_cell(cells[critic]) for critic in scorecard.critics if critic in cells
            }
            for system, cells in scorecard.rows.items()
        }
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=scorecard.critics)
        return frame.fillna("").rename_axis(index="system", columns="critic")

    @cached_property
    def detectability(self) -> pd.DataFrame:
        """The numbers of the scorecard: a row per system and critic.

        Among the columns are `system`, `critic`, `verdict`, `c2st_auc` (in [0, 1]; 0.5 is chance), `ci_low`, `ci_high`,
        `p_value`, `n_reference`, `n_candidate` and `signature`.
        """
        return read_scorecard(self._tables)

    @cached_property
    def statistics(self) -> pd.DataFrame:
        """All statistics: a row per system, critic and statistic.

        Among the columns are `value`, `ci_low`, `ci_high`, `p_value`, `p_adjusted`, `n_reference`, `n_candidate` and
        `signature`; the real texts are the system `control`.
        """
        return read_statistics(self._tables)

    @cached_property
    def warnings(self) -> pd.DataFrame:
        """Reasons not to trust, or not to generalise, a critic's numbers: `critic`, `title`, `warning`."""
        return read_warnings(self._tables).drop(columns="corpus")

    @cached_property
    def documents(self) -> pd.DataFrame:
        """A number per text and critic, with the places that it comes from.

        The columns are `system`, `critic`, `id`, `score` (larger is less like real text; NaN: not judged) and `marks`:
        a list with the `section`, `start`, `end`, `weight` (in [0, 1]) and `note` of each place.
        """
        tables = []
        for (critic, _, system), path in self._plan.reporting.attributions().items():
            rows = pd.DataFrame(read_attributions(self.folder / path), columns=["id", "score", "marks"])
            tables.append(rows.assign(system=system, critic=critic))
        table = pd.concat(tables, ignore_index=True)
        return table.astype({"score": float})[["system", "critic", "id", "score", "marks"]]

    def report(self, folder: str | Path) -> Path:
        """Write the report into a folder, and return its first page, `report.html`.

        It is the report of `macroscope criticize`, with pages, figures, tables and readable texts, and opens offline.
        The first call makes it, which takes a few seconds more.

        Raises
        ------
        MacroscopeError
            If a job failed.
        """
        self._make_report()
        results = self.folder / self._plan.results
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name in _REPORT:
            with atomic(target / name) as path:
                (shutil.copytree if (results / name).is_dir() else shutil.copyfile)(results / name, path)
        return target / _REPORT[0]

    @property
    def _tables(self) -> Path:
        return self.folder / self._plan.results / "tables"

    @property
    def _legend(self) -> str:
        return render_legend(self._plan.config.statistics.margin)

    @property
    def _remarks(self) -> list[str]:
        warned = [f"Warning ({row.critic}, {row.title}): {row.warning}" for row in self.warnings.itertuples()]
        return [*self.reasons, *warned]

    def __repr__(self) -> str:
        return "\n\n".join([render_scorecard(self.detectability), self._legend, *self._remarks])

    def _repr_html_(self) -> str:
        """Return the scorecard, its legend and the warnings as HTML, for notebooks."""
        from html import escape

        paragraphs = [self._legend, *self._remarks]
        return self.scorecard.to_html() + "".join(f"<p>{escape(text)}</p>" for text in paragraphs)
