"""Output of a gate: text, JSON, JUnit XML, and exit status."""

import json
import logging
import sys
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest
import yaml

from macroscope import cli
from macroscope.gate.evaluate import evaluate_policy, match_systems
from macroscope.gate.formats import as_json, as_junit, format_text
from macroscope.gate.policy import read_policy
from macroscope.runs.results import find_run

from .conftest import row, rule, write_run

HOSTILE = '<img src=x onerror="x">&\x00\x1b[31m\u202e\ud800]]>\n'


@dataclass
class Done:
    """Result of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["macroscope", "gate", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        text = capsys.readouterr()
        return Done(exit_info.value.code, text.out, text.err)

    yield call
    logging.getLogger("macroscope").handlers = []


@pytest.fixture
def runs(tmp_path):
    """Two runs and a policy that they pass."""
    before, after = (write_run(tmp_path / name, [row(10, 9, 11)]) for name in ("before", "after"))
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump({"statistics": [rule(difference=2)]}))
    return before, after, policy


def test_every_verdict_has_its_exit_status(command, runs, tmp_path):
    before, after, policy = runs
    files = "--output", tmp_path / "out" / "gate.json", "--junit", tmp_path / "out" / "gate.xml"
    done = command("--baseline", before, "--candidate", after, "--policy", policy, *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("PASS: 1 PASS, 0 FAIL, 0 INCONCLUSIVE, of 1 test")
    assert json.loads((tmp_path / "out" / "gate.json").read_text())["exit_code"] == 0
    printed = command("--baseline", before, "--candidate", after, "--policy", policy, "--json")
    assert json.loads(printed.stdout) == json.loads((tmp_path / "out" / "gate.json").read_text())
    assert ElementTree.parse(tmp_path / "out" / "gate.xml").getroot().get("failures") == "0"
    policy.write_text(yaml.safe_dump({"statistics": [rule("higher", limit=5)]}))
    assert command("--baseline", before, "--candidate", after, "--policy", policy).returncode == 1
    policy.write_text(yaml.safe_dump({"statistics": [rule(difference=0.1)]}))
    done = command("--baseline", before, "--candidate", after, "--policy", policy)
    assert done.returncode == 4
    assert "documents would decide (now 100)" in done.stdout


@pytest.mark.parametrize("flag", ["--output", "--junit"])
def test_results_replace_only_results(command, runs, tmp_path, flag):
    before, after, policy = runs
    compared = ("--baseline", before, "--candidate", after, "--policy", policy)
    answer, mine = tmp_path / "answer", tmp_path / "mine.yaml"
    mine.write_text("statistics: []\n")
    for _ in range(2):
        assert command(*compared, flag, answer).returncode == 0
    done = command(*compared, flag, mine, "--output" if flag == "--junit" else "--junit", tmp_path / "other")
    assert done.returncode == 3
    assert f"{mine}: exists, and is not an earlier output of this command" in done.stderr
    assert mine.read_text() == "statistics: []\n"
    assert not (tmp_path / "other").exists()


def test_errors_have_their_own_status(command, runs):
    before, after, policy = runs
    for arguments in (
        ("--baseline", before, "--candidate", after, "--policy", "none.yaml"),
        ("--baseline", before, "--candidate", "none", "--policy", policy),
    ):
        done = command(*arguments)
        assert done.returncode == 3, arguments
        assert "Traceback" not in done.stderr
    assert command("--help").returncode == 0


def test_a_defect_has_the_status_of_errors(command, runs, monkeypatch):
    def broken(*arguments):
        raise KeyError("defect")

    monkeypatch.setattr("macroscope.gate.evaluate.evaluate_policy", broken)
    before, after, policy = runs
    done = command("--baseline", before, "--candidate", after, "--policy", policy)
    assert done.returncode == 3
    assert "KeyError: 'defect'" in done.stderr


def hostile_result(tmp_path):
    rows = [row(10, 9, 11, system=HOSTILE.replace("\ud800", "").replace("\x00", "")), row("", "", "", reason="<b>")]
    before, after = (write_run(tmp_path / name, rows) for name in ("before", "after"))
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump({"statistics": [rule(difference=0.5), rule(limit=5)]}))
    return evaluate_policy(match_systems(find_run(str(before)), find_run(str(after))), read_policy(policy))


def test_junit_has_the_elements_that_build_servers_read(tmp_path):
    result = hostile_result(tmp_path)
    as_junit(result).write(tmp_path / "gate.xml", encoding="utf-8", xml_declaration=True)
    root = ElementTree.parse(tmp_path / "gate.xml").getroot()
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {"name", "tests", "failures", "errors", "time"} <= set(suite.attrib)
    counts = [int(suite.get(name)) for name in ("tests", "failures", "errors")]
    assert counts == [len(suite.findall(path)) for path in ("testcase", "testcase/failure", "testcase/error")]
    assert counts == [4, 1, 3]
    names = [(case.get("classname"), case.get("name")) for case in suite]
    assert len(set(names)) == len(names)
    assert all(case.get("time") for case in suite)


def test_hostile_names_are_shown_as_text(tmp_path):
    result = hostile_result(tmp_path)
    text = format_text(result)
    assert '<img src=x onerror="x">&\\x1b[31m\\u202e]]>\\n' in text
    assert not {"\x1b", "\u202e"} & set(text)
    parsed = json.loads(json.dumps(as_json(result), default=str))
    assert parsed["counts"] == {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}
