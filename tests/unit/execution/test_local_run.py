"""A run without Snakemake: order, cores, failures."""

import os

import pytest

from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.execution.failures import describe_failed
from macroscope.execution.local_run import run_tasks
from macroscope.execution.tasks import Task
from macroscope.files import REPOSITORY, read_json

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("documents")]


@pytest.fixture(autouse=True)
def package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "workflow"))


def count(name, documents, after=()):
    """Return a task that counts the documents of a file."""
    words = ["corpora", "count", "--documents", documents, "--output", f"{name}.json"]
    return Task(name, words, [documents, *after], [f"{name}.json"], f"logs/{name}.log", ["macroscope.documents"])


@pytest.fixture
def documents(tmp_path):
    """Write a collection of one document."""
    document = Document("a", "test", "A", (Section(None, "A text."),))
    write_documents(tmp_path / "d.parquet", [document], Provenance("d"))


def test_tasks_run_in_order_with_logs_and_times(tmp_path):
    finished = []
    tasks = [count("first", "d.parquet"), count("second", "d.parquet", ["first.json"])]
    run_tasks(tasks, tmp_path, 2, lambda task: finished.append(task.name))
    assert finished == ["first", "second"]
    assert read_json(tmp_path / "second.json") == {"documents": 1}
    assert "of the processor" in (tmp_path / "logs" / "first.log").read_text()
    assert (tmp_path / "logs" / "first.tsv").read_text().startswith("s\n")


def test_a_failure_has_a_reason_and_takes_along_what_needs_it_and_nothing_else(tmp_path):
    tasks = [
        *(count("bad", "none.parquet"), count("late", "d.parquet", ["bad.json"])),
        *(count("later", "d.parquet", ["late.json"]), count("good", "d.parquet")),
    ]
    finished = []
    (failed,) = run_tasks(tasks, tmp_path, 2, lambda task: finished.append(task.name))
    assert finished == ["good"]
    assert failed.unmade == {"bad.json", "late.json", "later.json"}
    assert "none.parquet" in failed.reason
    assert describe_failed([failed, failed]) == f"{failed.reason} ({tmp_path}/logs/bad.log)"
    assert not (tmp_path / "late.json").exists()
    assert os.getcwd() != str(tmp_path)
