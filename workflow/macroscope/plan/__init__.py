"""The jobs that a config implies: the plans of the rooms, combined.

Rules map names to paths; every choice that depends on the config is made in a room's plan, where it can be tested:
`plan.corpora.parts`, `plan.systems.samples`, `plan.critics.options(critic, "project")`. Methods that take
`wildcards` are input and parameter functions of rules.
"""

from collections.abc import Mapping
from typing import Any

from macroscope.config.schema import Config, parse_config
from macroscope.errors import MacroscopeError, blame_plugins
from macroscope.extras import missing_extras, name_command
from macroscope.jobs import Job
from macroscope.plan.corpora import CorporaPlan
from macroscope.plan.critics import CriticsPlan
from macroscope.plan.reporting import ReportingPlan
from macroscope.plan.systems import SystemsPlan
from macroscope.plan.user_files import UserFiles
from macroscope.runs.contents import FINISHED, WHOLE, contents_file
from macroscope.stages import ANY_NAME, alternatives
from macroscope.systems import kinds

MANY_JOBS = 10_000
"""Number of jobs from which on their planning takes so long that a user is told."""
SECONDS_TO_PLAN_A_JOB = 0.005
"""Time of Snakemake per job before the first one; `tests/benchmarks/bench_dryrun.py` measures it."""


class Plan:
    """The jobs of a config, as names and paths relative to the working directory.

    Attributes
    ----------
    corpora, systems, critics, reporting
        Plans of the rooms.
    user_files
        Contents of the user's files that jobs read.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.results = f"results/{config.run}"
        self.corpora = CorporaPlan(config, self.results)
        self.systems = SystemsPlan(config, self.results, self.corpora)
        self.critics = CriticsPlan(config, self.corpora, self.systems)
        self.reporting = ReportingPlan(config, self.results, self.systems, self.critics)
        self.user_files = UserFiles([self.results, *self.corpora.retrieved_folders()])

    def require_sources(self) -> None:
        """Check that the sources of every corpus and system are known.

        Raises
        ------
        MacroscopeError
            If a data set is not in the registry, or no file is named.
        """
        self.corpora.require_mirrored()
        for corpus in self.config.corpora:
            self.corpora.raw_parts(corpus)
        for name, system in self.systems.all.items():
            system.files_read(f"systems.{name}")

    def require_extras(self) -> None:
        """Check that the extras of the installation are there which the config's critics and systems need.

        Raises
        ------
        MacroscopeError
            If one is missing, with the command that installs it.
        """
        needing: dict[str, list[str]] = {}
        for name in dict.fromkeys(critic for critic, _, _ in self.critics.comparisons):
            for extra in missing_extras(self.critics.plugins[name].data.extras, self.config.critic(name)):
                needing.setdefault(extra, []).append(f"the critic '{name}'")
        for name in dict.fromkeys(system for _, system in self.critics.pairs):
            for extra in missing_extras(kinds()[self.systems.all[name].kind].data.extras, self.systems.all[name]):
                needing.setdefault(extra, []).append(f"the system '{name}'")
        for extra, names in needing.items():
            raise MacroscopeError(
                f"the extra '{extra}' is not installed, and the config needs it for {', '.join(names)};"
                f" {name_command(extra)}"
            )

    def targets(self) -> list[str]:
        """Return the final outputs of a complete run."""
        if self.config.sensitivity is not None:
            return [f"{self.results}/sensitivity"]
        return [f"{self.results}/report.html", f"{self.results}/reader"]

    def constraints(self) -> dict[str, str]:
        """Return wildcard -> regular expression, for all rules."""
        return {
            "corpus": alternatives(self.config.corpora),
            # Any name: with a thousand systems, matching a list of all names dominates the run time.
            "system": ANY_NAME,
            "part": "[A-Za-z0-9-]+",
            "shard": r"\d+",
            "split": "valid|test",
        }

    @property
    def config_file(self) -> str:
        """Return the path of the effective config: of a whole run, or of its second pass (`plan.second_pass`).

        They are two files, so that the first pass of the next call changes nothing that the report is made from.
        """
        return f"{self.results}/{FINISHED if self.config.failed else WHOLE}"

    def jobs(self) -> list[Job]:
        """Return the jobs of all rooms: the rule template makes a rule of each, and `engine.tasks` a step."""
        with blame_plugins():
            of_critics = [*self.critics.matched_lengths.jobs(), *self.critics.jobs()]
            reporting = self.reporting.jobs(self.config_file)
            return [*self.corpora.jobs(), *self.systems.jobs(), *of_critics, *reporting]

    def planning_note(self) -> str | None:
        """Return a sentence about the time that Snakemake takes to plan a large run; None for others.

        Snakemake is silent while it plans, which takes the same time per job, however many there are.
        """
        jobs = self.critics.count_jobs()
        if jobs < MANY_JOBS:
            return None
        minutes = max(1, round(jobs * SECONDS_TO_PLAN_A_JOB / 60))
        return (
            f"{len(self.critics.pairs):,} systems have about {jobs:,} jobs, which Snakemake plans in about {minutes}"
            " min before the first one, at each call; runs of fewer systems begin sooner"
        )

    def descriptions(self) -> dict[str, str]:
        """Return path -> JSON, of the config with all its defaults and of the contents of the run."""
        return {
            self.config_file: self.config.model_dump_json(indent=2) + "\n",
            contents_file(self.config_file): self.reporting.contents.to_json() + "\n",
        }

    def where_to_look(self) -> str:
        """Return a message that names the files to open first."""
        return (
            f"\nReport:       {self.results}/report.html  (open it in a browser)\n"
            f"Texts:        {self.results}/reader/index.html\n"
            f"Headline:     {self.results}/tables/headline.csv\n"
            f"All numbers:  {self.results}/tables/statistics.csv\n"
        )


def load_plan(raw: Mapping[str, Any]) -> Plan:
    """Check a config and plan its jobs; an error, or an exit, of a plug-in's code is one sentence."""
    with blame_plugins():
        plan = Plan(parse_config(raw))
        plan.require_sources()
    return plan
