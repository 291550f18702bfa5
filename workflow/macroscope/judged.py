"""What a config asks to be judged: corpora, systems and critics, and the wildcards that stand for them."""

from collections.abc import Iterator
from functools import cached_property

from macroscope.config.schema import Config
from macroscope.corpora.plan import CorporaPlan
from macroscope.critics.clusters.options import Probing
from macroscope.systems.declaration import CONTROL
from macroscope.systems.plan import SystemsPlan


class Judged:
    """The corpora, systems and comparisons of a config, the control always among them."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.results = f"results/{config.run}"
        self.corpora = CorporaPlan(config, self.results)
        self.systems = SystemsPlan(config, self.results, self.corpora)

    @cached_property
    def comparisons(self) -> list[tuple[str, str, str]]:
        """Every (critic, corpus, system) that is asked for, the control always among them; no doubles."""
        found: dict[tuple[str, str, str], None] = {}
        for comparison in self.config.comparisons:
            for critic in comparison.critics:
                for system in (CONTROL, *self.systems_on(comparison.corpus, comparison.systems)):
                    found[critic, comparison.corpus, system] = None
        return list(found)

    def judged_corpora(self) -> list[str]:
        """Corpora that are judged against or probed, in the order of the config."""
        used = {corpus for _, corpus, _ in self.comparisons}
        used |= {name for probing in self.config.probing for name in (probing.corpus, probing.reference) if name}
        return [name for name in self.config.corpora if name in used]

    def pairs(self) -> list[tuple[str, str]]:
        """Every (corpus, system) that is judged."""
        return list(dict.fromkeys((corpus, system) for _, corpus, system in self.comparisons))

    def language_models(self) -> list[tuple[str, str]]:
        """Every (corpus, system) that is judged and makes a language model."""
        return [pair for pair in self.pairs() if self.systems.language_models.has_model(pair[1])]

    def probing(self, corpus: str) -> Probing:
        """What is asked about the clusters of a corpus."""
        return next(probing for probing in self.config.probing if probing.corpus == corpus)

    def systems_on(self, corpus: str, systems: str | list[str]) -> Iterator[str]:
        """Those of some systems, or of all, that a corpus can be judged with."""
        for name in self.systems.all if systems == "all" else systems:
            if self.config.applies(name, corpus):
                yield name
