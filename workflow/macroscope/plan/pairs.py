"""What all systems of a corpus are compared by together: how each is told from real text, and pairs of them."""

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from macroscope.options import CONTROL
from macroscope.stages import Function, Wildcards, module_of

if TYPE_CHECKING:
    from macroscope.plan.critics import CriticsPlan


class SideBySide:
    """Inputs and flags of the jobs that look at several systems at once.

    Parameters
    ----------
    critics
        The plan of the room.
    """

    def __init__(self, critics: "CriticsPlan") -> None:
        self.critics = critics

    @cached_property
    def against(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """(critic, corpus) -> pairs of systems that are compared with each other there; only where there are any."""
        found: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
        for comparison in self.critics.config.comparisons:
            asked = comparison.pairs
            if asked == "all":
                judged = [
                    some for some in self.critics.systems.on(comparison.corpus, comparison.systems) if some != CONTROL
                ]
                asked = list(combinations(judged, 2))
            for critic in comparison.critics if asked else ():
                found.setdefault((critic, comparison.corpus), {}).update(dict.fromkeys(asked))
        return {chapter: list(pairs) for chapter, pairs in found.items()}

    def seen(self, critic: str) -> dict[str, Function]:
        """Inputs by which single documents of all systems are told from real ones."""
        names = ("latents", "scores") if self.critics.declared(critic).scores else ("latents",)
        return {name: self.critics.of_all(name, critic) for name in names}

    def system_flags(self, critic: str) -> Function:
        """Parameter function: the systems that a critic judges on a corpus, as flags, in the order of the inputs."""
        return lambda wildcards: [
            word for system in self.critics.chapters[critic, wildcards.corpus] for word in ("--system", system)
        ]

    def statistics_of_all(self, critic: str) -> Function:
        """Input function: the statistics of every system of a corpus by a critic."""
        names = ["statistics"] if self.critics.declared(critic).compares else []
        names += [self.critics.score_statistics(critic)] if self.critics.declared(critic).scores else []
        found = [self.critics.of_all(name, critic) for name in names]

        def statistics(wildcards: Wildcards) -> list[str]:
            told = self.critics.place("two_sample_test", critic, corpus=wildcards.corpus)
            return [*(file for of_all in found for file in of_all(wildcards)), told]

        return statistics

    def pair_flags(self, critic: str) -> Function:
        """Parameter function: the pairs of systems that are compared with each other, as flags."""
        return lambda wildcards: [
            word for pair in self.against[critic, wildcards.corpus] for word in ("--pair", ":".join(pair))
        ]

    def pairs_files(self) -> list[str]:
        """Every table of systems against each other."""
        return [self.critics.place("pairs", critic, corpus=corpus) for critic, corpus in self.against]

    def feature_module(self, critic: str) -> str:
        """Module that knows what a critic sees of single documents."""
        where = self.critics.declared(critic).features
        return module_of(where, self.critics.found[critic].package) if where else "macroscope.critics.features"
