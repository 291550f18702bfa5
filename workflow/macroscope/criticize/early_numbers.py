"""Numbers of a run before it ends: each critic's detectability, as soon as its two-sample tests are finished."""

from pathlib import Path

import pandas as pd

from macroscope.engine.tasks import Task
from macroscope.options import CONTROL, SPLIT_HALF, is_matched
from macroscope.plan import Plan
from macroscope.reporting.formats import format_percent
from macroscope.reporting.scorecard import TOO_FEW_TO_SAY, is_too_few_to_say
from macroscope.reporting.scorecard_text import readable_name
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.tables import read_csv

HEADING = "Detectability as critics finish, 50 % is chance; verdicts and warnings follow at the end:"
MOST_SYSTEMS = 5
"""Largest number of systems in a line: those that differ most from real text."""


class EarlyNumbers:
    """The lines to print while a run goes on.

    Parameters
    ----------
    plan
        Plan of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self._critics = {
            plan.critics.place("two_sample_test", critic, corpus=corpus): critic
            for (critic, corpus), systems in plan.critics.chapters.items()
            if systems
        }
        self._is_first = True

    def __call__(self, task: Task, folder: Path) -> str:
        """Return the new lines after a task has made its outputs in a folder; "" if there are none."""
        critic = self._critics.get(task.outputs[0])
        line = describe_detectability(critic, read_csv(folder / task.outputs[0])) if critic else ""
        heading = f"{HEADING}\n" if line and self._is_first else ""
        self._is_first = self._is_first and not line
        return f"{heading}{line}\n" if line else ""


def describe_detectability(critic: str, tests: pd.DataFrame) -> str:
    """Return a line about the systems that a critic tells from real text, the most different first; "" without any.

    Parameters
    ----------
    tests
        The critic's classifier two-sample tests, as in its table of statistics.
    """
    rows = tests[(tests["statistic"] == C2ST_AUC) & tests["value"].notna()].set_index("system")
    others = [name for name in rows.index if name in (CONTROL, SPLIT_HALF) or is_matched(name)]
    systems = rows.drop(index=others).sort_values("value", ascending=False, kind="stable")
    if systems.empty:
        return ""
    shown = [_describe(str(name), row) for name, row in systems.head(MOST_SYSTEMS).iterrows()]
    if len(systems) > MOST_SYSTEMS:
        shown.append(f"{len(systems) - MOST_SYSTEMS} more below these")
    if SPLIT_HALF in rows.index:
        shown.append(_describe(SPLIT_HALF, rows.loc[SPLIT_HALF]))
    return f"  {critic}: {'; '.join(shown)}"


def _describe(system: str, row: pd.Series) -> str:
    if is_too_few_to_say(system, row["n_reference"], row["n_candidate"]):
        return f"{readable_name(system)}: {TOO_FEW_TO_SAY}"
    low, high = (format_percent(row[end]) for end in ("ci_low", "ci_high"))
    return f"{readable_name(system)} {format_percent(row['value'])} % [{low}, {high}]"
