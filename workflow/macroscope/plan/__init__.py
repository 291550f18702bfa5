"""What a config implies: the plans of the rooms, put together.

Rules map names to paths; every choice that depends on the config is made in a room's plan, where it can be tested:
`plan.corpora.parts`, `plan.systems.samples`, `plan.critics.options(critic, "project")`. Methods that take
`wildcards` are input and parameter functions of rules.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from macroscope.config.schema import Config, parse_config
from macroscope.plan.code import CodeTracking
from macroscope.plan.corpora import CorporaPlan
from macroscope.plan.critics import CriticsPlan
from macroscope.plan.reporting import ReportingPlan
from macroscope.plan.systems import SystemsPlan


class Plan:
    """The jobs of a config, as names and paths relative to the working directory.

    Attributes
    ----------
    corpora, systems, critics, reporting
        Plans of the rooms.
    code
        Which code makes which result.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.results = f"results/{config.run}"
        self.corpora = CorporaPlan(config, self.results)
        self.systems = SystemsPlan(config, self.results, self.corpora)
        self.critics = CriticsPlan(config, self.corpora, self.systems)
        self.reporting = ReportingPlan(config, self.results, self.systems, self.critics)
        self.code = CodeTracking(self.results, config.accept_older_code)

    def require_sources(self) -> None:
        """Check that it is known what every corpus and system is read from.

        Raises
        ------
        MacroscopeError
            Where a data set is none of the registry, or no file is named.
        """
        for corpus in self.config.corpora:
            self.corpora.raw_parts(corpus)
        for name, system in self.systems.all.items():
            system.files_read(f"systems.{name}")

    def targets(self) -> list[str]:
        """What a complete run leaves."""
        return [f"{self.results}/report.html", f"{self.results}/reader"]

    def resampling_flags(self, permutations: bool = True) -> str:
        """Bootstrap and permutation, as flags of `macroscope statistics`."""
        options = self.config.statistics
        flags = f"--resamples {options.resamples} --confidence {options.confidence} --seed {self.config.seed}"
        return f"{flags} --permutations {options.permutations}" if permutations else flags

    def interval_flags(self) -> str:
        """Level of the intervals and seed, as flags, for what resamples nothing."""
        return f"--confidence {self.config.statistics.confidence} --seed {self.config.seed}"

    @property
    def effective_config(self) -> str:
        """Where the config with all its defaults is kept beside the results."""
        return f"{self.results}/config.json"

    def effective_json(self) -> str:
        """The config with all its defaults."""
        return self.config.model_dump_json(indent=2) + "\n"

    def digest(self) -> str:
        """A hash of the config: a changed config makes the report anew."""
        return hashlib.sha256(self.effective_json().encode()).hexdigest()[:16]

    def where_to_look(self) -> str:
        """The files that a person opens first."""
        return (
            f"\nReport:       {self.results}/report.html  (open it in a browser)\n"
            f"Texts:        {self.results}/reader/index.html\n"
            f"Headline:     {self.results}/tables/headline.csv\n"
            f"All numbers:  {self.results}/tables/statistics.csv\n"
        )


def load_plan(raw: Mapping[str, Any]) -> Plan:
    """Check a config and plan its jobs."""
    plan = Plan(parse_config(raw))
    plan.require_sources()
    return plan
