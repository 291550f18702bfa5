"""The profile of clusters: what takes seconds travels in groups, of every critic."""

import pytest
import yaml

from macroscope.files import REPOSITORY, read_yaml
from macroscope.plan import load_plan

SHORT = ("score", "explain", "known_truth", "attribute")
"""Stages that only look at latents and scores of a system."""
MINUTES = 60
"""What a stage asks for that says nothing else."""


@pytest.fixture(scope="module")
def critics():
    return load_plan(read_yaml(REPOSITORY / "config.yaml")).critics


@pytest.fixture(scope="module")
def profile():
    return yaml.safe_load((REPOSITORY / "profiles" / "slurm" / "profile.yaml").read_text())


def test_short_jobs_of_every_critic_travel_together(critics, profile):
    stages = [
        f"{stage}_{critic}"
        for critic, stage in critics.jobs()
        if stage in SHORT or (stage == "compare" and critics.stage(critic, stage).minutes <= MINUTES)
    ]
    scores = [f"compare_scores_{critic}" for critic in critics.with_stage("score")]
    assert sorted(profile["group-components"]) == sorted([*stages, *scores, "summarise_perplexity"])


def test_only_short_jobs_travel_together(critics, profile):
    declared = {f"{stage}_{critic}": critics.stage(critic, stage) for critic, stage in critics.jobs()}
    together = [stage for name, stage in declared.items() if name in profile["group-components"]]
    assert max(stage.minutes for stage in together) == MINUTES
    assert {stage.threads for stage in together} == {1}
    assert not any(stage.model_option for stage in together)
