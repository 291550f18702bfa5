"""Environments of jobs."""

from types import SimpleNamespace

import pytest

from macroscope.files import REPOSITORY
from macroscope.plan import load_plan
from macroscope.plan.environments import environment
from macroscope.strict_yaml import read_yaml

NEED_MODELS = {"finetune", "sample", "project_coherence", "embed_sentences"}
NEED_NONE = {"project_tendencies", "compare_tendencies", "score_coherence", "train_coreference", "train_languages"}


@pytest.fixture(scope="module")
def plan():
    return load_plan(read_yaml(REPOSITORY / "config.yaml"))


@pytest.mark.slow
def test_only_jobs_that_import_torch_have_an_environment_with_it(plan):
    wildcards = SimpleNamespace(corpus="webtext", system="lm-titles")
    needed = {job.name: job.modules for job in plan.jobs() if job.name in NEED_MODELS | NEED_NONE}
    jobs = {name: environment(modules)(wildcards) for name, modules in needed.items()}
    assert {jobs[name] for name in NEED_MODELS} == {"../../envs/models.yaml"}
    assert {jobs[name] for name in NEED_NONE} == {"../../envs/statistics.yaml"}


def test_reading_raw_files_needs_no_torch(plan):
    for corpus in plan.config.corpora:
        modules = plan.corpora.reading_module(SimpleNamespace(corpus=corpus))
        assert environment(modules)(None) == "../../envs/statistics.yaml"
