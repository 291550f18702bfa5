"""Parts of a run without numbers: failed ones, which the report lists, and critics that are not asked about some texts.

A job that failed is left out by the second pass (`plan.second_pass`). A critic's stage of reporting that failed is left
out by the job that calls it: the critic's numbers are there, and its own figures or tables are not.

The profile of a user's texts (`criticize.choice`) or the author of a config writes which critics are not asked. The
plan gives a reason to each cell of the scorecard without a comparison (`plan.comparisons`), and the table
`scorecard.csv` has it for all readers.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pydantic import Field

from macroscope.errors import MacroscopeError
from macroscope.options import Options
from macroscope.tables import read_csv, write_csv

FILE = "missing.csv"
UNFINISHED = "unfinished"
"""File in the folder of a run that has begun and not ended: its tables may be older than its texts."""
ATTEMPTS = "attempts"
"""File in the folder of a run with the number of times that stages of reporting failed."""
ADVICE = "the same command tries only what failed"
"""Advice about what a report lacks."""


class Missing(Options):
    """A corpus, a system or a critic on a corpus, or a critic's stage of reporting, that failed and is left out."""

    corpus: str = Field(description="Name of the corpus; alone, the corpus itself failed.")
    system: str | None = Field(None, description="Name of the system that failed there.")
    critic: str | None = Field(None, description="Name of the critic, or variant, that failed there.")
    stage: str | None = Field(
        None, description="Stage of reporting of the critic that failed, report or overview; its numbers are there."
    )
    reason: str = Field(description="One sentence that says why.")
    log: str = Field("", description="Log of the job that failed.")

    @property
    def name(self) -> str:
        """Return what failed, in words: "critic 'topics' on 'wiki'"."""
        if self.stage is not None:
            return f"{self.stage} of critic '{self.critic}' on '{self.corpus}'"
        if self.critic is not None:
            return f"critic '{self.critic}' on '{self.corpus}'"
        return f"corpus '{self.corpus}'" if self.system is None else f"system '{self.system}' on '{self.corpus}'"

    @property
    def explanation(self) -> str:
        """Return why it failed, and where to read more: "failed: REASON; see LOG"."""
        return f"failed: {self.details}"

    @property
    def details(self) -> str:
        """Return the reason, and where to read more: "REASON; see LOG"."""
        return self.reason + (f"; see {self.log}" if self.log else "")

    @property
    def is_in_scorecard(self) -> bool:
        """Return whether cells of the scorecard say it: a critic failed, and its stages of reporting are not meant."""
        return self.critic is not None and self.stage is None

    def covers(self, corpus: str, system: str | None, critic: str | None) -> bool:
        """Return whether a corpus, a system there or a critic there, or a critic on a system, is left out by this."""
        if self.stage is not None:
            return False
        return self.corpus == corpus and self.system in (None, system) and self.critic in (None, critic)


def write_missing(missing: Sequence[Missing], folder: Path) -> None:
    """Write the table of what is missing into the folder of the tables or figures; nothing if all is there."""
    if missing:
        rows = [entry.model_dump() for entry in missing]
        write_csv(pd.DataFrame(rows, columns=list(Missing.model_fields)), folder / FILE)


def read_missing(*folders: Path) -> list[Missing]:
    """Read what is missing from the folders of tables and figures; nothing if all is there."""
    return [entry for folder in folders for entry in _read(folder / FILE)]


def count_attempts(results: Path) -> int:
    """Return how often stages of reporting failed: a parameter of their rules, so that Snakemake runs them again."""
    path = results / ATTEMPTS
    return int(path.read_text()) if path.exists() else 0


def note_attempt(results: Path) -> None:
    """Note that stages of reporting failed once more; see `count_attempts`."""
    (results / ATTEMPTS).write_text(str(count_attempts(results) + 1))


def rules_with_failed_stages(results: Path) -> set[str]:
    """Return the rules whose jobs left out a critic's stage of reporting, given the folder of a run's results.

    A table of what is missing that cannot be read may be of such a job, too.
    """
    rules = {"tables": "make_tables", "figures": "plot_figures"}
    return {rule for folder, rule in rules.items() if _lacks_stages(results / folder)}


def _lacks_stages(folder: Path) -> bool:
    try:
        return any(entry.stage for entry in read_missing(folder))
    except MacroscopeError:
        return True


def describe_missing(missing: Sequence[Missing]) -> str:
    """Return a sentence about what a report lacks, and what to do."""
    return f"The report lacks {', '.join(entry.name for entry in missing)}; {ADVICE}"


def _read(path: Path) -> list[Missing]:
    if not path.exists():
        return []
    try:
        rows = read_csv(path, keep_default_na=False, dtype=str).to_dict("records")
        missing = [Missing.model_validate({name: text for name, text in row.items() if text}) for row in rows]
    except ValueError:  # of pandas and of pydantic
        missing = []
    if not missing:  # it is not written if nothing is missing
        raise MacroscopeError(f"{path}: not a table of what failed; run the same command again to make the tables")
    return missing


NOT_IN_CONFIG = "not in the config"
"""Reason of a cell for which the config gives none."""


class NotAsked(Options):
    """A critic that is not asked about the texts of a corpus, or of one system there, and why."""

    corpus: str = Field(description="Name of the corpus.")
    critic: str = Field(description="Name of the critic, or variant.")
    system: str | None = Field(
        None, description="Name of the only system it is about; default: all without comparison."
    )
    reason: str = Field(min_length=1, description="A few words for a cell, such as 'needs section titles'.")
    explanation: str = Field("", description="The end of a sentence about the critic, such as 'it needs 20 documents'.")

    def covers(self, corpus: str, critic: str, system: str) -> bool:
        """Return whether this is about a critic and a system of a corpus."""
        return (self.corpus, self.critic) == (corpus, critic) and self.system in (None, system)


def describe_not_asked(entries: Sequence[NotAsked]) -> list[str]:
    """Return a sentence per explanation, with all critics that it holds for."""
    groups: dict[tuple[str | None, str], list[str]] = {}
    for entry in entries:
        groups.setdefault((entry.system, entry.explanation or entry.reason), []).append(entry.critic)
    return [_describe(system, explanation, critics) for (system, explanation), critics in groups.items()]


def _describe(system: str | None, explanation: str, critics: Sequence[str]) -> str:
    names = ", ".join(f"'{critic}'" for critic in critics)
    if len(critics) == 1:
        left_out = "is left out" if system is None else f"does not judge '{system}'"
        return f"The critic {names} {left_out}: {explanation}."
    left_out = "are left out" if system is None else f"do not judge '{system}'"
    return f"The critics {names} {left_out}, each for this reason: {explanation}."
