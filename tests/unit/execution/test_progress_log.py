"""Progress of Snakemake's runs: few lines, which say what began and what failed, of events as Snakemake sends them."""

import logging
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from macroscope.execution import progress_log


@pytest.fixture
def is_dry():
    return False


@pytest.fixture
def log(capsys, is_dry):
    """Send events to a logger with Snakemake's plug-in; return the lines that it prints."""
    plugin = LoggerPluginRegistry().get_plugin("macroscope")
    handler = plugin.log_handler(SimpleNamespace(dryrun=is_dry), None)
    handler.setFormatter(DefaultFormatter())
    logger = logging.Logger("snakemake")
    logger.addHandler(handler)

    def send(event=None, message="", level=logging.INFO, **fields):
        logger.log(level, message, extra={"event": event, **fields} if event else {})
        return capsys.readouterr().err.splitlines()

    return send


def begin(log, jobid, rule, **wildcards):
    return log(LogEvent.JOB_INFO, jobid=jobid, rule_name=rule, wildcards=wildcards)


def test_a_rule_is_named_once_with_its_number_of_jobs(log):
    stats = {"train_topics": 1, "project_topics": 2, "all": 1, "total": 4}
    assert log(LogEvent.RUN_INFO, "Job stats", stats=stats) == ["3 jobs; their log files are in logs/"]
    assert begin(log, 1, "train_topics", corpus="wiki") == ["0 of 3 done; now: train topics (wiki)"]
    assert log(LogEvent.JOB_FINISHED, job_id=1) == log(LogEvent.PROGRESS, done=1, total=4) == []
    assert begin(log, 2, "project_topics", system="a") == ["1 of 3 done; now: project topics (2 jobs)"]
    assert begin(log, 3, "project_topics", system="b") == []
    assert log(LogEvent.PROGRESS, done=3, total=4) == [
        "3 of 3 jobs done; running: project topics (a), project topics (b)"
    ]
    assert begin(log, 4, "all") == log(LogEvent.PROGRESS, done=4, total=4) == []


@pytest.mark.parametrize("is_dry", [True])
def test_a_dry_run_lists_each_rule_once_with_its_number_of_jobs(log):
    stats = {"train_topics": 1, "project_topics": 2000, "all": 1, "total": 2002}
    assert log(LogEvent.RUN_INFO, "Job stats", stats=stats) == [
        *("2,001 jobs would run:", "     1 train topics", " 2,000 project topics")
    ]
    assert begin(log, 1, "train_topics", corpus="wiki") == log(LogEvent.RUN_INFO, "Job stats", stats=stats) == []
    assert log(message="This was a dry-run (flag -n).") == log(message="Reasons:\n    input files") == []


def test_a_run_without_jobs_of_its_own_says_no_number_of_jobs(log):
    assert log(LogEvent.RUN_INFO, "Job stats", stats={"all": 1, "total": 1}) == []


def test_a_failure_has_its_error_and_its_log(log, tmp_path):
    path = tmp_path / "train.log"
    path.write_text("macroscope: error: no texts; give some\n")
    begin(log, 1, "train_topics", corpus="wiki")
    failed = {"jobid": 1, "rule_name": "train_topics", "log": [str(path)]}
    assert log(LogEvent.JOB_ERROR, "Error", logging.ERROR, **failed) == [
        f"Failed: train topics (wiki): no texts; give some ({path})"
    ]
    assert log(LogEvent.ERROR, "the shell command", logging.ERROR, exception="RuleException") == []
    assert log(LogEvent.ERROR, "no such rule", logging.ERROR, exception="WorkflowError") == ["no such rule"]


def test_that_jobs_failed_is_not_said_after_their_names(log):
    text = "WorkflowError:\nAt least one job did not complete successfully."
    assert log(LogEvent.ERROR, text, logging.ERROR, exception="WorkflowError") == text.splitlines()
    log(LogEvent.JOB_ERROR, "Error", logging.ERROR, jobid=1, rule_name="train_topics", log=[])
    assert log(LogEvent.ERROR, text, logging.ERROR, exception="WorkflowError") == []


def test_long_work_says_every_minute_what_runs(log, monkeypatch):
    begin(log, 1, "sample")
    clock = progress_log.time.monotonic()
    monkeypatch.setattr(progress_log.time, "monotonic", lambda: clock + 61)
    assert log(LogEvent.PROGRESS, done=12, total=3456) == ["12 of 3,456 jobs done; running: sample"]
    assert log(LogEvent.PROGRESS, done=13, total=3456) == []


def test_details_of_the_workflow_are_left_to_its_own_log(log):
    assert log(message="Select jobs to execute...") == log(message="debug", level=logging.DEBUG) == []
    assert log(message="Creating conda environment envs/models.yaml...") == [
        "Creating conda environment envs/models.yaml..."
    ]
