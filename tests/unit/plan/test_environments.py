"""Environments of jobs under conda."""

import pytest

from macroscope.files import REPOSITORY
from macroscope.plan import load_plan
from macroscope.plan.environments import environment
from macroscope.strict_yaml import read_yaml

NEED_MODELS = {"finetune", "gather_samples", "project_coherence", "compare_topics", "embed_sentences", "probe_clusters"}
NEED_NONE = {"project_tendencies", "compare_tendencies", "train_coreference", "train_languages", "train_ngram"}


@pytest.mark.slow
def test_only_jobs_of_what_needs_torch_have_an_environment_with_it():
    plan = load_plan(read_yaml(REPOSITORY / "config.yaml"))
    jobs = {job.name: environment(job) for job in plan.jobs()}
    assert {jobs[name] for name in NEED_MODELS} == {"../../envs/models.yaml"}
    assert {jobs[name] for name in NEED_NONE} == {"../../envs/statistics.yaml"}
