"""Estimated time of a run, before its first job and while it goes on, from measured rates of the workflow's rules."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from macroscope.critics import critics
from macroscope.files import RESOURCES
from macroscope.tables import read_csv

RATES = RESOURCES / "job_seconds.csv"
"""Rule -> processor seconds of a job, and per 1000 words of a collection; `tests/benchmarks/rates.py` writes it."""
START_SECONDS = 1.0
"""Seconds of a job without measured rates: Snakemake's share and that of the process."""
EMBED = "embed_sentences"
"""Rule that embeds the sentences of a collection; see `plan.sentence_vectors`."""


def job_seconds(jobs: Mapping[str, int], words: float) -> dict[str, float]:
    """Return rule -> estimated seconds of a job on one core.

    If a single job embeds sentences, those of real texts, then the projections of one critic embed all others.

    Parameters
    ----------
    jobs
        Rule -> number of its jobs.
    words
        Mean number of words of a collection.
    """
    rates = read_csv(RATES).set_index("rule")
    measured = rates["seconds"] + rates["per_1000_words"] * words / 1000
    seconds = {rule: float(measured.get(rule, START_SECONDS)) for rule in jobs}
    if jobs.get(EMBED) == 1:
        embedding = seconds[EMBED] - START_SECONDS
        for rule in jobs.keys() & {f"project_{name}" for name, plugin in critics().items() if plugin.data.sentences}:
            seconds[rule] += embedding * (jobs[rule] - 1) / jobs[rule]  # one of them reads those of real texts
    return seconds


@dataclass
class TimeEstimate:
    """The time that a run takes, which is corrected by the jobs that end.

    Attributes
    ----------
    jobs
        Rule -> number of its jobs.
    seconds
        Rule -> estimated seconds of a job.
    cores
        Number of cores.
    done
        Rule -> number of finished jobs.
    """

    jobs: Mapping[str, int]
    seconds: Mapping[str, float]
    cores: int
    done: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def total(self) -> float:
        """Return the estimated seconds of the whole run: work on all cores, or the longest chain of jobs if longer."""
        chains: dict[str, float] = defaultdict(float)
        for rule in self.jobs:  # the stages of a critic wait for each other
            chains[rule.rpartition("_")[2]] += self.seconds[rule]
        work = sum(self.seconds[rule] * number for rule, number in self.jobs.items())
        return max(work / self.cores, *chains.values(), 0.0)

    @property
    def share_done(self) -> float:
        """Return the share of the work that is done, in [0, 1]."""
        work = sum(self.seconds[rule] * number for rule, number in self.jobs.items())
        done = sum(self.seconds[rule] * min(self.done[rule], number) for rule, number in self.jobs.items())
        return done / work if work else 1.0

    @property
    def jobs_done(self) -> int:
        """Return the number of finished jobs."""
        return sum(self.done.values())

    def left(self, elapsed: float) -> float:
        """Return the estimated seconds left.

        The more is done, the more the measured pace of this run counts, and the less that of the rates.
        """
        share = self.share_done
        pace = elapsed / (share * self.total) if share and self.total else 1.0
        return (1 - share) * self.total * ((1 - share) + share * pace)


def in_words(seconds: float) -> str:
    """Return a duration for readers: rounded, since it is an estimate."""
    if seconds < 45:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{max(minutes, 1)} min"
    return f"{seconds / 3600:.1f} h"
