"""A system that is projected in shards: a job a shard, and a comparison of all.

That shards change no number is tested for every critic by itself: tests/contract/test_critics.py.
"""

import json

import pytest

from macroscope.tables import read_csv

from .conftest import Run

TEXTS = 1100


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with shards that has finished."""
    run = Run(tmp_path_factory.mktemp("shards"))
    lines = [{"id": f"t{n}", "text": f"The {n % 7}th cat saw a dog. It ran {n % 11} miles home."} for n in range(TEXTS)]
    run.candidate.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    run.config["systems"] = {"mine": run.config["systems"]["mine"]}
    run.config["comparisons"] = [{"corpus": "real", "systems": ["mine"], "critics": ["strings"]}]
    run.config["human_judgements"] = []
    run.config["critics"] = {"strings": run.config["critics"]["strings"]}
    run.config["documents_per_shard"] = 1000
    run.save()
    done = run.snakemake("--until", "compare_strings")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return run


def test_there_is_a_job_a_shard(run):
    folder = run.work / "results" / "test" / "critics" / "strings" / "real" / "shards"
    assert sorted(path.name for path in (folder / "mine").iterdir()) == ["0.parquet", "1.parquet"]
    assert [path.name for path in (folder / "control").iterdir()] == ["0.parquet"]
    logs = run.work / "logs" / "test" / "project_strings" / "real" / "mine"
    assert sorted(path.name for path in logs.glob("*.log")) == ["0.log", "1.log"]


def test_all_texts_are_compared(run):
    statistics = read_csv(run.work / "results/test/statistics/strings/real/mine.csv")
    assert set(statistics.loc[statistics["system"] == "mine", "n_candidate"]) == {TEXTS}


def test_a_second_run_does_nothing(run):
    dry = run.snakemake("--dry-run", "--until", "compare_strings")
    assert "Nothing to be done" in dry.stdout + dry.stderr
