"""A critic's stage of reporting that fails takes nothing else along."""

from functools import partial

import pandas as pd
import pytest

from macroscope.critics.findings import Findings, ReportItem
from macroscope.gaps import FAILED, Gap, read_missing, write_missing
from macroscope.reporting.chapters import missing_chapters
from macroscope.reporting.critic_stages import plot_overview, report_items
from macroscope.reporting.figures import run_tasks
from macroscope.reporting.report import _with_figure
from tests.plugins import CRITIC, WORK, install

MODULE = CRITIC.replace(
    '"report": Stage("work:items"),', '"report": Stage("work:items"), "overview": Stage("work:plot"),'
)
FAILING = f"""{WORK.replace("return []", "return {}['words']")}

def plot(findings):
    raise SystemExit(3)
"""


def findings_of(critic, tmp_path):
    return Findings(critic, "wiki", tmp_path, ["control"], pd.DataFrame(), None, 0.95, tmp_path, language="en")


def test_a_plug_ins_failure_is_its_reason(tmp_path, monkeypatch, caplog):
    install(tmp_path, monkeypatch, MODULE, FAILING)
    findings = findings_of("theirs", tmp_path)
    with caplog.at_level("WARNING", logger="macroscope"):
        items, (of_report,) = report_items(findings)
        (of_overview,) = plot_overview(findings)
    assert items == []
    assert (of_report.name, of_overview.name) == (
        "report of critic 'theirs' on 'wiki'",
        "overview of critic 'theirs' on 'wiki'",
    )
    assert "the installed package their-critics (theirs.work: work.py, line" in of_report.explanation
    assert "KeyError: 'words'" in of_report.explanation
    assert "it ends the program, with status 3" in of_overview.explanation
    assert "return {}['words']" in caplog.text  # the traceback, for its authors


def test_a_defect_of_this_package_is_not_contained(tmp_path):
    with pytest.raises(KeyError):
        report_items(findings_of("strings", tmp_path))


@pytest.mark.parametrize("processes", [1, 2])
def test_failures_of_figures_are_returned_in_order(processes):
    failures = [Gap(kind=FAILED, corpus="wiki", critic=name, stage="overview", explanation="why") for name in "ab"]
    tasks = [partial(lambda entry: [entry] if entry else None, entry) for entry in (failures[0], None, failures[1])]
    assert run_tasks(tasks, processes)[1] == failures


def test_the_critics_numbers_are_not_missing(tmp_path):
    entry = Gap(kind=FAILED, corpus="wiki", critic="theirs", stage="report", explanation="why")
    assert not entry.covers("wiki", None, "theirs")
    assert not entry.is_in_scorecard
    assert not list(missing_chapters([entry]))
    for name in ("tables", "figures"):
        (tmp_path / name).mkdir()
    write_missing([entry], tmp_path / "figures")
    assert read_missing(tmp_path / "tables", tmp_path / "figures") == [entry]


def test_an_item_whose_figure_was_not_plotted_says_so(tmp_path):
    item = ReportItem("lengths", "Lengths", figure=tmp_path / "lengths.svg")
    assert _with_figure(item).warning == "The figure was not plotted."
    assert _with_figure(item).figure is None
    (tmp_path / "lengths.svg").write_text("<svg/>")
    assert _with_figure(item) is item
