"""Gaps: parts of a run without a number, each with its kind, its place and its reason, the same for every reader.

* A critic is *skipped* if it does not fit the texts (`criticize.choice`), or if the config says so or lacks it.
* A job that *failed* is left out by the second pass (`plan.second_pass`). A critic's stage of reporting that failed is
  left out by the job that calls it: the critic's numbers are there, and its own figures or tables are not.
* A critic is *not matched* if it declares that it compares no texts at matched length.
* Numbers are *not usable* if the critic's report says so, or of *too few texts* for a verdict.

The table `scorecard.csv` has the kind as the verdict of a cell, with the reason and the explanation.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field, model_validator

from macroscope.errors import MacroscopeError
from macroscope.options import Options
from macroscope.phrases import choose_form
from macroscope.tables import read_csv, write_csv

Kind = Literal["skipped", "failed", "not matched", "not usable", "too few texts"]
SKIPPED: Kind = "skipped"
FAILED: Kind = "failed"
UNMATCHED: Kind = "not matched"
UNUSABLE: Kind = "not usable"
TOO_FEW: Kind = "too few texts"
NOT_IN_CONFIG = "not in the config"
"""Reason of a cell for which the config gives none."""
FILE = "missing.csv"
_COLUMNS = {"corpus": "corpus", "system": "system", "critic": "critic", "stage": "stage"} | {
    "explanation": "reason",
    "log": "log",
}
"""Field of a failure -> column of the table of failures."""
UNFINISHED = "unfinished"
"""File in the folder of a run that has begun and not ended: its tables may be older than its texts."""
ATTEMPTS = "attempts"
"""File in the folder of a run with the number of times that stages of reporting failed."""
_RULES = {"tables": "make_tables", "figures": "plot_figures"}
"""Folder of a run -> rule that makes it with the critics' stages of reporting, and leaves out those that fail."""
ADVICE = "the same command tries only what failed"
"""Advice about what a report lacks."""


class Gap(Options):
    """A part of a run without a number: a critic on the texts of a corpus, for example, and why."""

    kind: Kind = Field(SKIPPED, description="Why there is no number, in a word; the run itself writes what failed.")
    corpus: str = Field(description="Name of the corpus; alone, the corpus itself failed.")
    system: str | None = Field(None, description="Name of the only system it is about; default: all of the corpus.")
    critic: str | None = Field(None, description="Name of the critic, or variant.")
    stage: str | None = Field(
        None, description="Stage of reporting of the critic that failed, report or overview; its numbers are there."
    )
    reason: str = Field("", description="A few words for a cell, such as 'needs section titles'.")
    explanation: str = Field("", description="The end of a sentence about it, such as 'it needs 20 documents'.")
    log: str = Field("", description="Log of the job that failed.")

    @model_validator(mode="after")
    def _require_reason(self) -> "Gap":
        needed = {SKIPPED: ("critic", "reason"), FAILED: ("explanation",)}.get(self.kind, ())
        if lacking := [name for name in needed if not getattr(self, name)]:
            raise ValueError(f"{self.kind}, without {' and '.join(lacking)}; name it")
        return self

    @property
    def name(self) -> str:
        """Return what has no number, in words: "critic 'topics' on 'wiki'"."""
        if self.stage is not None:
            return f"{self.stage} of critic '{self.critic}' on '{self.corpus}'"
        if self.critic is not None:
            return f"critic '{self.critic}' on '{self.corpus}'"
        return f"corpus '{self.corpus}'" if self.system is None else f"system '{self.system}' on '{self.corpus}'"

    @property
    def details(self) -> str:
        """Return the explanation, and where to read more: "EXPLANATION; see LOG"."""
        return self.explanation + (f"; see {self.log}" if self.log else "")

    @property
    def note(self) -> str:
        """Return the kind and the details: "failed: EXPLANATION; see LOG"."""
        return f"{self.kind}: {self.details}"

    @property
    def cell(self) -> dict[str, str]:
        """Return the columns of a cell of the scorecard that say why it has no number."""
        return {"verdict": self.kind, "reason": self.reason, "explanation": self.details}

    @property
    def record(self) -> dict[str, str | None]:
        """Return a failure as a row of the table of failures, and for JSON."""
        return {column: getattr(self, name) for name, column in _COLUMNS.items()}

    @property
    def is_in_scorecard(self) -> bool:
        """Return whether cells of the scorecard say it: a critic failed, and its stages of reporting are not meant."""
        return self.critic is not None and self.stage is None

    def covers(self, corpus: str, system: str | None, critic: str | None) -> bool:
        """Return whether a corpus, a system there or a critic there, or a critic on a system, is within this gap."""
        if self.stage is not None:
            return False
        return self.corpus == corpus and self.system in (None, system) and self.critic in (None, critic)


def find_gap(gaps: Iterable[Gap], corpus: str, system: str | None, critic: str | None) -> Gap | None:
    """Return the first gap that covers a part of a run; None without one."""
    return next((gap for gap in gaps if gap.covers(corpus, system, critic)), None)


def write_missing(missing: Sequence[Gap], folder: Path) -> None:
    """Write the table of what is missing into the folder of the tables or figures; nothing if all is there."""
    if missing:
        write_csv(pd.DataFrame([gap.record for gap in missing], columns=list(_COLUMNS.values())), folder / FILE)


def read_missing(*folders: Path) -> list[Gap]:
    """Read what is missing from the folders of tables and figures; nothing if all is there."""
    return [entry for folder in folders for entry in _read(folder / FILE)]


def count_attempts(results: Path, rule: str) -> int:
    """Return how often a rule's stages of reporting failed: its parameter, so that Snakemake runs them again."""
    return _read_attempts(results) if rule in _RULES.values() else 0


def note_attempt(results: Path) -> None:
    """Note that stages of reporting failed once more; see `count_attempts`."""
    (results / ATTEMPTS).write_text(str(_read_attempts(results) + 1))


def _read_attempts(results: Path) -> int:
    path = results / ATTEMPTS
    return int(path.read_text()) if path.exists() else 0


def rules_with_failed_stages(results: Path) -> set[str]:
    """Return the rules whose jobs left out a critic's stage of reporting, given the folder of a run's results.

    A table of what is missing that cannot be read may be of such a job, too.
    """
    return {rule for folder, rule in _RULES.items() if _lacks_stages(results / folder)}


def _lacks_stages(folder: Path) -> bool:
    try:
        return any(entry.stage for entry in read_missing(folder))
    except MacroscopeError:
        return True


def describe_missing(missing: Sequence[Gap]) -> str:
    """Return a sentence about what a report lacks, and what to do."""
    return f"The report lacks {', '.join(entry.name for entry in missing)}; {ADVICE}"


def _read(path: Path) -> list[Gap]:
    if not path.exists():
        return []
    try:
        rows = read_csv(path, keep_default_na=False, dtype=str).to_dict("records")
        fields = [{name: row[column] for name, column in _COLUMNS.items() if row.get(column)} for row in rows]
        missing = [Gap.model_validate({"kind": FAILED, **each}) for each in fields]
    except ValueError:  # of pandas and of pydantic
        missing = []
    if not missing:  # it is not written if nothing is missing
        raise MacroscopeError(f"{path}: not a table of what failed; run the same command again to make the tables")
    return missing


def describe_gaps(gaps: Iterable[Gap]) -> list[str]:
    """Return a sentence per explanation about critics that are skipped or not matched, with all that it holds for."""
    groups: dict[tuple[Kind, str | None, str], dict[str, None]] = {}
    for gap in gaps:
        groups.setdefault((gap.kind, gap.system, gap.explanation or gap.reason), {})[str(gap.critic)] = None
    return [_describe(*group, list(critics)) for group, critics in groups.items()]


def _describe(kind: Kind, system: str | None, explanation: str, critics: Sequence[str]) -> str:
    are, do = ("is", "does") if len(critics) == 1 else ("are", "do")
    lacks = f"{are} left out" if system is None else f"{do} not judge '{system}'"
    if kind == UNMATCHED:
        lacks = f"{do} not compare texts at matched length"
    if len(critics) > 1:
        lacks += ", each for this reason"
    names = ", ".join(f"'{critic}'" for critic in critics)
    return f"The {choose_form(len(critics), 'critic', 'critics')} {names} {lacks}: {explanation}."
