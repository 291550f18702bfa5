"""The time of a run: an estimate before the first job, the time left while it runs, and all output in a file."""

import io

import pytest

from macroscope.criticize.progress import RATES, START_SECONDS, RunProgress, TimeEstimate, in_words, job_seconds
from macroscope.critics import critics
from macroscope.engine.tasks import Task
from macroscope.gaps import FAILED, Gap
from macroscope.tables import read_csv


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def test_rates_are_of_rules_that_exist_and_grow_with_the_texts():
    rates = read_csv(RATES)
    assert (rates[["seconds", "per_1000_words"]] >= 0).all().all()
    default = {name for name, plugin in critics().items() if plugin.data.criticize is not None}
    assert default <= {rule.rpartition("_")[2] for rule in rates["rule"]}
    jobs = {"embed_sentences": 2, "project_theirs": 2}
    few, many = (job_seconds(jobs, words) for words in (10_000, 1_000_000))
    assert many["embed_sentences"] > few["embed_sentences"]
    assert few["project_theirs"] == many["project_theirs"] == START_SECONDS


@pytest.mark.parametrize("critic", ["clusters", "narrative"])
def test_a_critic_alone_embeds_what_is_not_real_text_in_its_projections(critic):
    alone = job_seconds({"embed_sentences": 1, f"project_{critic}": 3, "project_topics": 3}, 100_000)
    shared = job_seconds({"embed_sentences": 3, f"project_{critic}": 3, "project_topics": 3}, 100_000)
    assert alone["embed_sentences"] + 3 * alone[f"project_{critic}"] == pytest.approx(
        3 * (shared["embed_sentences"] + shared[f"project_{critic}"]) - 2 * START_SECONDS
    )
    assert alone["project_topics"] == shared["project_topics"]


def test_work_is_spread_over_the_cores_and_a_chain_is_not():
    jobs, seconds = {"train_a": 1, "project_a": 3, "make_tables": 1}, {"train_a": 30, "project_a": 10, "make_tables": 1}
    assert TimeEstimate(jobs, seconds, 1).total == 61
    assert TimeEstimate(jobs, seconds, 8).total == 40  # training, then one projection


def test_the_time_left_follows_the_pace_of_the_run():
    estimate = TimeEstimate({"a": 10}, {"a": 10}, 1)
    assert estimate.left(0) == 100
    estimate.done["a"] = 5
    assert estimate.left(50) == pytest.approx(50)
    assert estimate.left(100) == pytest.approx(75)  # twice as slow: between the rates and the pace
    estimate.done["a"] = 9
    assert estimate.left(180) == pytest.approx(19)
    estimate.done["a"] = 10
    assert estimate.left(200) == 0
    assert TimeEstimate({}, {}, 2).left(1) == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "less than a minute"), (50, "1 min"), (400, "7 min"), (9000, "2.5 h")]
)
def test_durations_are_rounded(seconds, words):
    assert in_words(seconds) == words


def tasks(*names):
    return [Task(name, [], [], [], "", []) for name in names]


JOBS = tasks("project_clusters", "project_clusters", "make_tables")


def test_a_run_shows_an_estimate_then_a_line_every_so_often(tmp_path):
    clock, terminal = Clock(), io.StringIO()
    progress = RunProgress(10_000, 2, tmp_path / "logs", lambda task, folder: "", terminal, clock)
    progress.begin(JOBS)
    assert terminal.getvalue().startswith("3 jobs; estimated time on 2 cores: ")
    assert str(tmp_path / "logs") in terminal.getvalue()
    progress.finish(JOBS[0], tmp_path)
    progress.tick()
    assert terminal.getvalue().count("\n") == 1
    clock.seconds = 20
    progress.tick()
    assert terminal.getvalue().splitlines()[1].startswith("1 of 3 jobs, ")
    clock.seconds = 36
    progress.tick()
    assert terminal.getvalue().count("\n") == 2, "a line that says nothing new"
    clock.seconds = 3600
    progress.tick()
    progress.end()
    assert terminal.getvalue().count("\n") == 2, "more time left, and no job has ended"


def test_numbers_and_failures_are_shown_when_they_are_known(tmp_path):
    terminal = io.StringIO()
    news = {"project_clusters": "clusters: mine 81 %\n"}
    progress = RunProgress(10_000, 2, tmp_path, lambda task, folder: news.pop(task.name, ""), terminal, Clock())
    progress.begin(JOBS)
    for task in JOBS:
        progress.finish(task, tmp_path)
    progress.leave_out([Gap(kind=FAILED, corpus="wiki", critic="topics", explanation="no words", log="a.log")])
    assert terminal.getvalue().splitlines()[1:] == [
        "clusters: mine 81 %",
        "critic 'topics' on 'wiki' failed: no words; see a.log",
    ]
