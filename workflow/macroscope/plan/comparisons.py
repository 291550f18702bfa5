"""The comparisons of a config: critics with systems, also at matched length, and systems with each other."""

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from macroscope.critics import critics, get_critic
from macroscope.critics.declaration import Critic
from macroscope.critics.stage_jobs import CriticPlan
from macroscope.gaps import NOT_IN_CONFIG, SKIPPED, UNMATCHED, Gap, find_gap
from macroscope.options import CONTROL, matched_reference, matched_system
from macroscope.plan.matched_lengths import MatchedLengthsPlan
from macroscope.stages import load

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.plan.corpora import CorporaPlan
    from macroscope.plan.systems import SystemsPlan

Pairs = dict[tuple[str, str], list[tuple[str, str]]]
"""(critic, corpus) -> pairs of systems that are compared with each other there."""


class Comparisons:
    """The comparisons of a config.

    Parameters
    ----------
    corpora, systems
        Plans of the rooms to the left.

    Attributes
    ----------
    plugins
        Every available critic, used by the config or not, and the config's variants, by name.
    own
        Choices of each critic about its jobs.
    """

    def __init__(self, config: "Config", corpora: "CorporaPlan", systems: "SystemsPlan") -> None:
        self.config, self.corpora, self.systems = config, corpora, systems
        self.plugins = {**critics(), **{name: get_critic(name) for name in config.variant_names()}}
        self.own = {
            name: (load(critic.data.plan, critic.package) if critic.data.plan else CriticPlan)(config, name)
            for name, critic in critics().items()
        }

    @cached_property
    def _requested(self) -> dict[tuple[str, str, str], None]:
        """Return every (critic, corpus, system) of the config once, the control included."""
        return {
            (critic, comparison.corpus, system): None
            for comparison in self.config.comparisons
            for critic in comparison.critics
            for system in (CONTROL, *self.systems.on(comparison.corpus, comparison.systems))
        }

    @cached_property
    def comparisons(self) -> list[tuple[str, str, str]]:
        """Return every (critic, corpus, system) of the config once, the control included, without what failed."""
        return [
            (critic, corpus, system)
            for critic, corpus, system in self._requested
            if not self.config.lacks(corpus, system, critic)
        ]

    @cached_property
    def empty_cells(self) -> dict[tuple[str, str, str], Gap]:
        """Return (critic, corpus, system) -> why the scorecard has no number there, the control included.

        The systems are those that some critic judges; the critics are those of the corpus's comparisons, and those that
        the config says are skipped.
        """
        critics: dict[str, dict[str, None]] = {}
        for critic, corpus, _ in self._requested:
            critics.setdefault(corpus, {})[critic] = None
        for gap in self._skipped:
            critics.setdefault(gap.corpus, {})[str(gap.critic)] = None
        made = set(self.comparisons)
        return {
            (critic, corpus, system): self._why_empty(critic, corpus, system)
            for corpus, system in self.pairs
            for critic in critics[corpus]
            if (critic, corpus, system) not in made
        }

    def _why_empty(self, critic: str, corpus: str, system: str) -> Gap:
        gaps = self.config.failed if (critic, corpus, system) in self._requested else self._skipped
        default = Gap(corpus=corpus, critic=critic, system=system, reason=NOT_IN_CONFIG)
        return find_gap(gaps, corpus, system, critic) or default

    @property
    def _skipped(self) -> list[Gap]:
        return [gap for gap in self.config.gaps if gap.kind == SKIPPED]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Return every (corpus, system) that is judged."""
        return list(dict.fromkeys((corpus, system) for _, corpus, system in self.comparisons))

    @cached_property
    def chapters(self) -> dict[tuple[str, str], list[str]]:
        """Return (critic, corpus) -> systems judged there; none if only the critic's own stages read the corpus."""
        chapters: dict[tuple[str, str], list[str]] = {}
        for critic, corpus, system in self.comparisons:
            chapters.setdefault((critic, corpus), []).append(system)
        for critic, plan in self.own.items():
            for corpus in plan.corpora():
                if not self.config.lacks(corpus, critic=critic):
                    chapters.setdefault((critic, corpus), [])
        return chapters

    @cached_property
    def matched(self) -> dict[tuple[str, str], list[str]]:
        """Return (critic, corpus) -> systems that are compared with real text at matched length, too."""
        matched: dict[tuple[str, str], dict[str, None]] = {}
        for comparison in self.config.comparisons:
            for critic in comparison.critics if comparison.matched_length else ():
                for system in self.systems.on(comparison.corpus, comparison.systems):
                    if system in self.chapters.get((critic, comparison.corpus), ()) and self._is_matched(
                        critic, comparison.corpus, system
                    ):
                        matched.setdefault((critic, comparison.corpus), {})[system] = None
        return {chapter: list(systems) for chapter, systems in matched.items()}

    @cached_property
    def labelled(self) -> list[tuple[str, str]]:
        """Return every (critic, corpus) whose systems are compared by label."""
        compared = {(critic, each.corpus) for each in self.config.comparisons if each.by for critic in each.critics}
        return [key for key, systems in self.chapters.items() if key in compared and {*systems} - {CONTROL}]

    @cached_property
    def unmatched(self) -> list[Gap]:
        """Return why critics compare no texts at matched length, if the config wants that."""
        return [
            Gap(kind=UNMATCHED, corpus=comparison.corpus, critic=critic, explanation=why)
            for comparison in self.config.comparisons
            if comparison.matched_length
            for critic in comparison.critics
            if (why := self.declared(critic).unmatched)
        ]

    @cached_property
    def matched_lengths(self) -> MatchedLengthsPlan:
        """Return the plan of the texts at matched length."""
        compared = ((corpus, system) for (_, corpus), systems in self.matched.items() for system in systems)
        return MatchedLengthsPlan(self.config, self.corpora, self.systems, compared)

    @cached_property
    def all_comparisons(self) -> list[tuple[str, str, str]]:
        """Return `comparisons`, and those of systems at matched length."""
        matched = [
            (critic, corpus, matched_system(system))
            for (critic, corpus), systems in self.matched.items()
            for system in systems
        ]
        return [*self.comparisons, *matched]

    def tested(self, critic: str, corpus: str) -> list[str]:
        """Return the systems whose documents are tested against real ones, with all real ones that this needs."""
        matched = self.matched.get((critic, corpus), ())
        derived = (name(system) for system in matched for name in (matched_system, matched_reference))
        return [*self.chapters[critic, corpus], *derived]

    def _is_matched(self, critic: str, corpus: str, system: str) -> bool:
        """Return whether a critic compares a system at matched length, if the config wants that."""
        is_left_out = system == CONTROL or self.config.lacks(corpus, matched_system(system), critic)
        return not (is_left_out or self.declared(critic).unmatched)

    @cached_property
    def compared_pairs(self) -> Pairs:
        """Return the pairs that each comparison names, or all pairs of the systems that it judges; each pair once.

        Pairs with what failed (`Config.failed`) are left out.
        """
        pairs: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
        for comparison in self.config.comparisons:
            chosen = comparison.pairs
            if chosen == "all":
                judged = [name for name in self.systems.on(comparison.corpus, comparison.systems) if name != CONTROL]
                chosen = list(combinations(judged, 2))
            for critic in comparison.critics:
                made = [
                    pair
                    for pair in chosen
                    if not any(self.config.lacks(comparison.corpus, name, critic) for name in pair)
                ]
                if made:
                    pairs.setdefault((critic, comparison.corpus), {}).update(dict.fromkeys(made))
        return {chapter: list(unique) for chapter, unique in pairs.items()}

    @cached_property
    def corpora_used(self) -> list[str]:
        """Return the corpora that any critic reads, in the order of the config."""
        used = {corpus for _, corpus in self.chapters}
        used |= {corpus for plan in self.own.values() for corpus in plan.corpora_read()}
        return [name for name in self.config.corpora if name in used and not self.config.lacks(name)]

    def declared(self, critic: str) -> Critic:
        """Return the declaration of a critic."""
        return self.plugins[critic].data
