"""Failed jobs of a run: what they left unmade, and why they failed."""

from collections import defaultdict
from types import SimpleNamespace

from macroscope.errors import FAILED, UNEXPECTED
from macroscope.execution.failures import FailedJob, failed_jobs


class FakeJob:
    """A job of Snakemake with one output."""

    def __init__(self, output, log=()):
        self.output, self.log = [output], log

    def is_group(self):
        return False


def workflow_of(edges, failed, finished=()):
    """A workflow whose jobs have ended; `edges`: job -> jobs that depend on it."""
    depending = defaultdict(dict, {job: dict.fromkeys(later) for job, later in edges.items()})

    def bfs(direction, job):
        yield job
        for later in direction[job]:
            yield from bfs(direction, later)

    jobs = {*edges, *(job for later in edges.values() for job in later)}
    dag = SimpleNamespace(
        depending=depending,
        bfs=bfs,
        finished=lambda job: job in finished,
        needrun_jobs=lambda: iter(jobs - {*finished}),
    )
    return SimpleNamespace(dag=dag, scheduler=SimpleNamespace(failed=failed))


def test_what_depends_on_a_failed_job_is_unmade():
    train, score, further, report = FakeJob("model", ["a.log"]), FakeJob("scores"), FakeJob("other"), FakeJob("report")
    edges = {train: [score], score: [report], further: [report]}
    assert failed_jobs(workflow_of(edges, [train], [further])) == [
        FailedJob("a.log", frozenset({"model", "scores", "report"}))
    ]
    assert failed_jobs(workflow_of(edges, [train], [])) == []  # `other` was not tried: the run was stopped


def test_two_calls_name_the_jobs_in_the_same_order():
    jobs = [FakeJob("b", ["b.log"]), FakeJob("a", ["a.log"])]
    assert [job.log for job in failed_jobs(workflow_of({job: [] for job in jobs}, jobs))] == ["a.log", "b.log"]


def test_the_jobs_of_a_failed_group_fail_unless_they_finished():
    first, second, report = FakeJob("first"), FakeJob("second", ["b.log"]), FakeJob("report")
    group = SimpleNamespace(is_group=lambda: True, jobs=[first, second])
    workflow = workflow_of({first: [report], second: [report]}, [group], [first])
    assert failed_jobs(workflow) == [FailedJob("b.log", frozenset({"second", "report"}))]


def test_reasons(tmp_path):
    said, defect, killed = tmp_path / "said.log", tmp_path / "defect.log", tmp_path / "killed.log"
    said.write_text(f"read 8 texts\n{FAILED}no word occurs twice\n")
    defect.write_text(f"{UNEXPECTED}\nTraceback")
    killed.write_text("read 8 texts\n")
    reasons = [FailedJob(str(log), frozenset()).reason for log in (said, defect, killed, tmp_path / "none.log", "")]
    assert reasons[0] == "no word occurs twice"
    assert "a defect of macroscope" in reasons[1]
    assert all("without a message" in reason for reason in reasons[2:])
