"""Slurm profile: short jobs of every critic are grouped."""

import pytest
import yaml

from macroscope.critics import VARIANT_SEPARATOR
from macroscope.files import REPOSITORY, read_yaml
from macroscope.plan import load_plan

SHORT = ("score", "explain", "known_truth", "attribute", "compare_scores", "summarise_perplexity")
"""Stages that only read latents, scores or perplexities of a system."""
MINUTES = 60
"""Default run time of a stage, in minutes."""


@pytest.fixture(scope="module")
def jobs():
    """Return the jobs of the default config by name, without those of its variants."""
    plan = load_plan(read_yaml(REPOSITORY / "config.yaml"))
    return {job.name: job for job in plan.jobs() if VARIANT_SEPARATOR not in job.name}


@pytest.fixture(scope="module")
def profile():
    return yaml.safe_load((REPOSITORY / "profiles" / "slurm" / "profile.yaml").read_text())


def stage_of(job):
    """Return the name of a job's stage."""
    return job.command.rpartition(" ")[2]


def test_short_jobs_of_every_critic_and_kind_are_grouped(jobs, profile):
    short = [
        name
        for name, job in jobs.items()
        if stage_of(job) in SHORT or (stage_of(job) == "compare" and job.stage.minutes <= MINUTES)
    ]
    assert {"summarise_perplexity_language_model", "compare_scores_coherence", "attribute_topics"} <= set(short)
    assert sorted(profile["group-components"]) == sorted(short)


def test_only_short_jobs_are_grouped(jobs, profile):
    grouped = [jobs[name] for name in profile["group-components"]]
    assert max(job.stage.minutes for job in grouped if stage_of(job) != "compare_scores") == MINUTES
    assert {job.stage.threads for job in grouped} == {1}
    assert not any(job.stage.model_option for job in grouped)
