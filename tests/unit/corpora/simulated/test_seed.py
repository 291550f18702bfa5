"""The seed of a simulated corpus: corpora of one kind have the same texts only if they have the same seed."""

import json
from types import SimpleNamespace

import pytest

from macroscope.cli.corpora import simulate
from macroscope.corpora.simulated import SOURCE
from macroscope.plan import load_plan


@pytest.fixture
def texts(tmp_path):
    def write(run_seed, **options):
        raw = tmp_path / "texts.jsonl"
        given = {"source": "simulated", "kind": "scripts", "documents": 5, **options}
        simulate(json.dumps(given), run_seed, raw, tmp_path / "truth")
        return raw.read_bytes()

    return write


def test_the_seed_is_added_to_the_seed_of_the_run(texts):
    assert texts(7) == texts(7, seed=0) == texts(5, seed=2)
    assert texts(7) != texts(7, seed=1)


@pytest.mark.parametrize("kind", SOURCE.simulations)
def test_the_job_of_each_kind_has_the_seed(kind):
    corpora = {"a": {"source": "simulated", "kind": kind, "seed": 3}}
    config = {
        "run": "test",
        "corpora": corpora,
        "systems": {"control": {"kind": "control"}},
        "critics": {"tendencies": {}},
        "comparisons": [{"corpus": "a", "systems": ["control"], "critics": ["tendencies"]}],
    }
    plan = load_plan(config)
    (job,) = [job for job in plan.jobs() if job.name == f"simulate_{kind}"]
    assert json.loads(job.options(SimpleNamespace(corpus="a")))["seed"] == 3
