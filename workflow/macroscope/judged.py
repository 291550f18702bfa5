"""What a config asks to be judged: corpora, systems and critics, and the wildcards that stand for them."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from macroscope.config.schema import CONTROL, Config
from macroscope.corpora.options import SimulatedCorpus
from macroscope.critics.clusters.options import Probing
from macroscope.systems.options import (
    ControlSystem,
    FilesSystem,
    NgramSystem,
    PerturbationSystem,
    SimulatedSystem,
)

NOTHING = "(?!)"
"""A wildcard constraint that matches nothing: a rule for a kind that the config does not use."""


class Judged:
    """The corpora, systems and comparisons of a config, the control always among them."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.systems = {CONTROL: ControlSystem(kind="control"), **config.systems}
        self.results = f"results/{config.run}"

    @cached_property
    def comparisons(self) -> list[tuple[str, str, str]]:
        """Every (critic, corpus, system) that is asked for, the control always among them; no doubles."""
        found: dict[tuple[str, str, str], None] = {}
        for comparison in self.config.comparisons:
            for critic in comparison.critics:
                for system in (CONTROL, *self.systems_on(comparison.corpus, comparison.systems)):
                    found[critic, comparison.corpus, system] = None
        return list(found)

    def corpora(self) -> list[str]:
        """Corpora that are judged against or probed, in the order of the config."""
        used = {corpus for _, corpus, _ in self.comparisons}
        used |= {name for probing in self.config.probing for name in (probing.corpus, probing.reference) if name}
        return [name for name in self.config.corpora if name in used]

    def pairs(self, kind: type | None = None) -> list[tuple[str, str]]:
        """Every (corpus, system) that is judged; only systems of a kind where one is given."""
        found = dict.fromkeys((corpus, system) for _, corpus, system in self.comparisons)
        return [pair for pair in found if kind is None or isinstance(self.systems[pair[1]], kind)]

    def systems_of(self, kind: Any) -> str:
        """Wildcard constraint: names of the systems of a kind."""
        return alternatives(name for name, system in self.systems.items() if isinstance(system, kind))

    def simulated_corpora(self, kind: str) -> str:
        """Wildcard constraint: names of the simulated corpora of a kind."""
        return alternatives(name for name in self.config.corpora if self.kind_of_process(name) == kind)

    ngram_systems = property(lambda self: self.systems_of(NgramSystem))
    files_systems = property(lambda self: self.systems_of(FilesSystem))
    control_systems = property(lambda self: self.systems_of(ControlSystem))
    simulated_systems = property(lambda self: self.systems_of(SimulatedSystem))
    perturbation_systems = property(lambda self: self.systems_of(PerturbationSystem))

    def probing(self, corpus: str) -> Probing:
        """What is asked about the clusters of a corpus."""
        return next(probing for probing in self.config.probing if probing.corpus == corpus)

    def systems_on(self, corpus: str, systems: str | list[str]) -> Iterator[str]:
        """Those of some systems, or of all, that a corpus can be judged with."""
        for name in self.systems if systems == "all" else systems:
            if self.config.applies(name, corpus):
                yield name

    def kind_of_process(self, corpus: str) -> str | None:
        """Kind of a simulated corpus, and so of its process; None for any other."""
        found = self.config.corpora[corpus]
        return found.kind if isinstance(found, SimulatedCorpus) else None


def alternatives(names: Iterable[str]) -> str:
    """Wildcard constraint: one of these names."""
    return "|".join(re.escape(name) for name in names) or NOTHING
