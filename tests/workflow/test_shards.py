"""A system that is projected in shards gives the same numbers as in one job."""

import json

import pytest

from .conftest import Run

TEXTS = 1100


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same config with and without shards: a run of each that has finished."""
    finished = {}
    for name, size in (("whole", None), ("shards", 1000)):
        run = Run(tmp_path_factory.mktemp(name))
        lines = [
            {"id": f"t{n}", "text": f"The {n % 7}th cat saw a dog. It ran {n % 11} miles home."} for n in range(TEXTS)
        ]
        run.candidate.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
        run.config["systems"] = {"mine": run.config["systems"]["mine"]}
        run.config["comparisons"] = [{"corpus": "real", "systems": ["mine"], "critics": ["strings"]}]
        run.config["human_judgements"] = []
        run.config["critics"] = {"strings": run.config["critics"]["strings"]}
        if size:
            run.config["documents_per_shard"] = size
        run.save()
        done = run.snakemake("--until", "compare_strings")
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        finished[name] = run
    return finished


def test_there_is_a_job_a_shard(runs):
    folder = runs["shards"].work / "results" / "test" / "critics" / "strings" / "real" / "shards"
    assert sorted(path.name for path in (folder / "mine").iterdir()) == ["0.parquet", "1.parquet"]
    assert [path.name for path in (folder / "control").iterdir()] == ["0.parquet"]
    logs = runs["shards"].work / "logs" / "test" / "project_strings" / "real" / "mine"
    assert sorted(path.name for path in logs.glob("*.log")) == ["0.log", "1.log"]


def test_the_numbers_are_the_same(runs):
    """Every critic by itself: tests/contract/test_critics.py."""
    name = "results/test/statistics/strings/real/mine.csv"
    assert (runs["shards"].work / name).read_bytes() == (runs["whole"].work / name).read_bytes()


def test_a_second_run_does_nothing(runs):
    dry = runs["shards"].snakemake("--dry-run", "--until", "compare_strings")
    assert "Nothing to be done" in dry.stdout + dry.stderr
