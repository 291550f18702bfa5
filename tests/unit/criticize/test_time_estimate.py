"""The time of a run: an estimate before the first job, the time left while it runs, and all output in a file."""

import io
import sys

import pytest

from macroscope.criticize.run import _last_error
from macroscope.criticize.time_estimate import RATES, START_SECONDS, TimeEstimate, in_words, job_seconds
from macroscope.criticize.workflow_run import RunProgress, run_workflow
from macroscope.critics import critics
from macroscope.tables import read_csv

STATS = """\
Building DAG of jobs...
Job stats:
job                  count
-----------------  -------
all                      1
project_clusters         2
make_tables              1
total                    4

Select jobs to execute...
"""


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


def test_a_run_shows_an_estimate_then_a_line_every_so_often(tmp_path):
    clock, terminal = Clock(), io.StringIO()
    progress = RunProgress(10_000, 2, tmp_path / "criticize.log", terminal, clock)
    lines = io.StringIO(STATS[:40])
    progress.read(lines)
    assert terminal.getvalue() == ""
    progress.read(io.StringIO(STATS[40:]))  # in pieces, as it is written
    assert terminal.getvalue().startswith("3 jobs; estimated time on 2 cores: ")
    assert str(tmp_path / "criticize.log") in terminal.getvalue()
    progress.read(io.StringIO("Finished jobid: 3 (Rule: project_clusters)\n"))
    assert terminal.getvalue().count("\n") == 1
    clock.seconds = 20
    progress.read(io.StringIO("[Thu Nov 26]\nFinished jobid: 0 (Rule: all)\n4 of 4 steps (100%) done\n"))
    assert terminal.getvalue().splitlines()[1].startswith("1 of 3 jobs, ")
    clock.seconds = 36
    progress.read(io.StringIO("another line\n"))
    progress.end()
    assert terminal.getvalue().count("\n") == 2, "a line that says nothing new"


def test_news_of_a_finished_job_are_shown_once(tmp_path):
    terminal = io.StringIO()
    news = {"project_clusters": "clusters: mine 81 %\n"}
    progress = RunProgress(10_000, 2, tmp_path / "log", terminal, Clock(), lambda rule: news.pop(rule, ""))
    progress.read(io.StringIO(STATS))
    progress.read(io.StringIO("Finished jobid: 3 (Rule: project_clusters)\nFinished jobid: 4 (Rule: write_report)\n"))
    assert terminal.getvalue().splitlines()[1:] == ["clusters: mine 81 %"]


def test_nothing_to_do_shows_nothing(tmp_path):
    terminal = io.StringIO()
    progress = RunProgress(10_000, 2, tmp_path / "log", terminal)
    progress.read(io.StringIO("Building DAG of jobs...\nNothing to be done.\n"))
    progress.end()
    assert terminal.getvalue() == ""


def test_all_output_is_in_the_file_and_the_status_is_returned(tmp_path, capfd):
    code = f"import sys; print({STATS!r}); print('an error', file=sys.stderr); sys.exit(3)"
    log_file = tmp_path / "logs" / "criticize.log"
    assert run_workflow([sys.executable, "-c", code], log_file, 1000, "2") == 3
    assert {*STATS.splitlines(), "an error"} <= {*log_file.read_text().splitlines()}
    said = capfd.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_the_last_error_is_named(tmp_path):
    path = tmp_path / "log"
    path.write_text('Assuming\nWorkflowError in file "Snakefile", line 3:\nthe package cannot be imported\n  File x\n')
    assert _last_error(path) == "the package cannot be imported"
    path.write_text("one\ntwo\n\n")
    assert _last_error(path) == "two"
    path.write_text("")
    assert _last_error(path) == "it printed nothing"
