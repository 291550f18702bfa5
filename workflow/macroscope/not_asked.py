"""Critics that are not asked about some texts, with the reasons: entries of the config, and sentences about them.

The first look at a user's texts writes them (`criticize.choice`), or the author of a config. The plan gives a reason to
each cell of the scorecard without a comparison (`plan.comparisons`), and the table `scorecard.csv` has it for all
readers.
"""

from collections.abc import Sequence

from pydantic import Field

from macroscope.options import Options

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
