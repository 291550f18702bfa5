"""Tasks that run on this machine: order, room, failures, and what is done already."""

import os

import pytest

from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.engine.manifest import Manifest
from macroscope.engine.pool import Watcher, _Pool, run_tasks
from macroscope.engine.tasks import Machine, Task
from macroscope.execution.failures import describe_failed
from macroscope.files import REPOSITORY, read_json

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("documents")]
MACHINE = Machine(2, 0, 1000)


class Record(Watcher):
    """A watcher that notes what it learns."""

    def __init__(self):
        self.begun, self.finished = [], []

    def begin(self, tasks):
        self.begun = [task.name for task in tasks]

    def finish(self, task, folder):
        assert (folder / task.outputs[0]).exists()
        self.finished.append(task.name)


@pytest.fixture(autouse=True)
def package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "workflow"))


def count(name, documents, after=(), **more):
    """Return a task that counts the documents of a file."""
    words = ["corpora", "count", "--documents", documents, "--output", f"{name}.json"]
    inputs = [documents, *after]
    return Task(name, words, inputs, [f"{name}.json"], f"logs/{name}.log", ["macroscope.documents"], words, **more)


@pytest.fixture
def documents(tmp_path):
    """Write a collection of one document."""
    document = Document("a", "test", "A", (Section(None, "A text."),))
    write_documents(tmp_path / "d.parquet", [document], Provenance("d"))


def run(tasks, folder):
    watcher = Record()
    manifest = Manifest(folder, "manifest.jsonl", tasks, lambda path: path)
    return run_tasks(tasks, folder, MACHINE, manifest, watcher), watcher


def test_tasks_run_in_order_with_logs_and_times(tmp_path):
    tasks = [count("first", "d.parquet"), count("second", "d.parquet", ["first.json"])]
    failed, watcher = run(tasks, tmp_path)
    assert (failed, watcher.finished) == ([], ["first", "second"])
    assert read_json(tmp_path / "second.json") == {"documents": 1}
    assert "of the processor" in (tmp_path / "logs" / "first.log").read_text()
    assert (tmp_path / "logs" / "first.tsv").read_text().startswith("s\n")
    assert run(tasks, tmp_path)[1].begun == []


def test_a_failure_has_a_reason_and_takes_along_what_needs_it_and_nothing_else(tmp_path):
    tasks = [
        *(count("bad", "none.parquet"), count("late", "d.parquet", ["bad.json"])),
        *(count("later", "d.parquet", ["late.json"]), count("good", "d.parquet")),
    ]
    (failed,), watcher = run(tasks, tmp_path)
    assert watcher.finished == ["good"]
    assert failed.unmade == {"bad.json", "late.json", "later.json"}
    assert "none.parquet" in failed.reason
    assert describe_failed([failed, failed], keeps_logs=True) == f"{failed.reason} ({tmp_path}/logs/bad.log)"
    assert not (tmp_path / "late.json").exists()
    assert os.getcwd() != str(tmp_path)
    assert run(tasks, tmp_path)[1].begun == ["bad", "late", "later"]


@pytest.mark.parametrize(
    ("uses", "fits"),
    [
        (Machine(1, 0, 400), True),
        (Machine(2, 0, 400), False),
        (Machine(1, 1, 400), False),
        (Machine(1, 0, 700), False),
    ],
)
def test_tasks_run_together_if_the_machine_has_room(uses, fits, tmp_path):
    pool = _Pool("", tmp_path, MACHINE, 0, None, Watcher())
    task = count("next", "d.parquet", uses=uses)
    assert pool._fits(task)  # alone, it takes what there is
    pool.running = {None: (count("running", "d.parquet", uses=Machine(1, 0, 600)), 0.0)}
    assert pool._fits(task) is fits
