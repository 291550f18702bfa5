"""A critic that fails takes nothing else along: the report is made without it, and the next call tries only it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from macroscope.errors import IN_PART, MacroscopeError
from macroscope.files import REPOSITORY
from macroscope.gaps import UNFINISHED
from macroscope.runs.results import find_run

from ..plugins import CRITIC, WORK, write_package
from ..tiny import simulated_documents, write_jsonl

BEGINNING = "    documents = list(texts)\n"
FAILING_REPORT = WORK.replace("    return []\n", "    raise ValueError('no caption')\n", 1)
KILLED = WORK.replace(BEGINNING, "    import os\n    os.kill(os.getpid(), 11)\n", 1)
FAILING = WORK.replace(BEGINNING, f"{BEGINNING}    raise ValueError('eight rare words')\n", 1)


@pytest.fixture
def criticize(tmp_path):
    """Call `macroscope criticize` with the critic of `write_package`; return the process and the rules that ran."""
    real = write_jsonl(tmp_path / "real.jsonl", simulated_documents("process", 20, 1))
    mine = write_jsonl(tmp_path / "mine.jsonl", simulated_documents("shuffled", 20, 2))
    sides = ("--reference", real, "--candidate", mine, "--output", tmp_path / "judged")
    command = [sys.executable, "-m", "macroscope", "criticize", *sides]
    path = os.pathsep.join([str(REPOSITORY / "workflow"), str(tmp_path / "installed")])

    def call(work, *options):
        write_package(tmp_path / "installed", CRITIC, work)
        arguments = map(str, [*command, "--critic", "strings", "--critic", "theirs", "--cores", "2", *options])
        environment = os.environ | {"PYTHONPATH": path}
        began = time.time()
        done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
        logs = tmp_path / "judged" / "logs" / "criticism"
        recent = [path.relative_to(logs) for path in logs.rglob("*.log") if path.stat().st_mtime >= began]
        return done, {path.parts[0].removesuffix(".log") for path in recent}

    return call


def test_the_report_is_made_without_it_and_the_next_call_tries_only_it(criticize, tmp_path):
    results = tmp_path / "judged" / "results" / "criticism"
    tables, report = results / "tables", results / "report.html"

    first, rules = criticize(FAILING)
    assert first.returncode == IN_PART, first.stdout[-3000:] + first.stderr[-3000:]
    assert {"write_report", "write_reader", "plot_figures"} <= rules
    (row,) = pd.read_csv(tables / "missing.csv", keep_default_na=False).to_dict("records")
    assert (row["corpus"], row["system"], row["critic"]) == ("reference", "", "theirs")
    for text in (row["reason"], report.read_text(), (results / "pages" / "critic.theirs.reference.html").read_text()):
        assert "eight rare words" in text
    assert re.search(r"\n\(\d\) failed: .*eight rare words.*; see logs/", first.stdout)
    cells = pd.read_csv(tables / "scorecard.csv", keep_default_na=False).set_index(["critic", "system"])
    assert set(cells.loc["theirs", "verdict"]) == {"failed"}
    assert "; see logs/" in cells.loc[("theirs", "mine"), "explanation"]
    assert re.search(r"^theirs: failed: .*eight rare words.*; see logs/", report.read_text(), re.MULTILINE)
    assert set(pd.read_csv(tables / "statistics.csv")["critic"]) == {"strings"}
    written = report.stat().st_mtime_ns

    second, rules = criticize(FAILING)
    assert (second.returncode, rules) == (IN_PART, {"project_theirs"})
    assert not (results / UNFINISHED).exists()
    assert report.stat().st_mtime_ns == written

    third, rules = criticize(WORK, "--json")
    assert third.returncode == 0, third.stdout[-3000:] + third.stderr[-3000:]
    answer = json.loads(third.stdout)
    judged = {(row["system"], row["critic"]) for row in answer["scorecard"]}
    assert {("mine", "strings"), ("mine", "theirs")} <= judged
    assert (Path(answer["report"]), answer["missing"]) == (report, [])
    assert "project_theirs" in rules
    assert not any("strings" in rule for rule in rules)
    assert set(pd.read_csv(tables / "statistics.csv")["critic"]) == {"strings", "theirs"}
    assert not (tables / "missing.csv").exists()
    assert "eight rare words" not in report.read_text()

    (results / UNFINISHED).touch()  # of a call that was killed: its tables may be those of other texts
    with pytest.raises(MacroscopeError, match="the last call of this run did not end"):
        find_run(str(results))
    fourth, _ = criticize(WORK)
    assert fourth.returncode == 0
    assert find_run(str(results))[0].named_systems >= {"mine"}


def test_a_critic_that_a_signal_ends_is_named_with_the_signal_and_the_log(criticize, tmp_path):
    done, _ = criticize(KILLED)
    assert done.returncode == IN_PART, done.stdout[-3000:] + done.stderr[-3000:]
    said = re.search(
        r"\n\(\d\) failed: the job was ended by signal 11 \(Segmentation fault\); .*; see (logs/\S+)", done.stdout
    )
    assert said, done.stdout
    assert "theirs" in said[1]
    assert "signal 11" in (tmp_path / "judged" / said[1]).read_text()


def test_a_run_says_a_failure_once_and_then_only_where_the_report_is(tmp_path):
    for name in ("real", "mine"):
        texts = ("\n\n".join(f"The {name} text {n} has part {part}. " * 9 for part in "abcd") for n in range(30))
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / "broken.jsonl").write_text('{"text": }\n')
    systems = {name: {"kind": "files", "files": [f"{name}.jsonl"]} for name in ("mine", "broken")}

    def run(names):
        config = {
            "run": "test",
            "corpora": {"c": {"source": "files", "files": ["real.jsonl"], "split": "test"}},
            "systems": {name: systems[name] for name in names},
            "comparisons": [{"corpus": "c", "systems": names, "critics": ["tendencies"]}],
        }
        (tmp_path / "config.yaml").write_text(json.dumps(config))
        command = [sys.executable, "-m", "macroscope", "run", "--config", "config.yaml", "--cores", "2"]
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    failed = run(["mine", "broken"])
    assert failed.returncode == IN_PART, failed.stderr
    log = "logs/test/generate_files/c/broken.log"
    assert re.search(rf"\nFailed: generate files \(c broken\): .*broken\.jsonl, line 1 .* \({log}\)\n", failed.stderr)
    assert failed.stderr.count("broken.jsonl, line 1") == 1
    assert (tmp_path / log).read_text().startswith("macroscope: error: ")
    assert not re.search("WorkflowError|now: all", failed.stderr)
    for _ in range(2):
        done = run(["mine"])
        assert done.returncode == 0, done.stderr
    assert re.search(r"Nothing to be done.*\n\nReport: +results/test/report.html ", done.stderr)


def test_a_comparison_in_python_goes_on_without_it(tmp_path):
    real = write_jsonl(tmp_path / "real.jsonl", simulated_documents("process", 20, 1))
    mine = write_jsonl(tmp_path / "mine.jsonl", simulated_documents("shuffled", 20, 2))
    write_package(tmp_path / "installed", CRITIC, FAILING)
    script = f"""
import macroscope
result = macroscope.compare({str(real)!r}, {str(mine)!r}, critics=["strings", "theirs"], n_jobs=2, progress=False)
print(*result.scorecard, [entry.critic for entry in result.missing], result.report("report"))
print(result)
print(macroscope.load(result.save("saved")).scorecard.equals(result.scorecard))
try:
    macroscope.compare({str(real)!r}, {str(mine)!r}, critics="theirs", n_jobs=2, progress=False)
except macroscope.MacroscopeError as error:
    print("refused:", error)
"""
    path = os.pathsep.join([str(REPOSITORY / "workflow"), str(tmp_path / "installed")])
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("strings theirs ['theirs'] report/report.html\n")
    assert "\nCritics without numbers: theirs, failed (1).\n(1) failed: " in done.stdout
    assert re.search("^\\(1\\) failed: .*eight rare words", done.stdout, re.MULTILINE)
    assert "logs/" not in done.stdout  # they are in a temporary folder
    assert "\nTrue\n" in done.stdout
    assert re.search("^refused: .*eight rare words.*; give `keep` a folder", done.stdout, re.MULTILINE)
    assert "critic 'theirs' on 'reference' is missing from the result; it failed: " in done.stderr
    assert "eight rare words" in (tmp_path / "report" / "report.html").read_text()


def test_sensitivity_goes_on_without_it_and_says_so(tmp_path):
    real = write_jsonl(tmp_path / "real.jsonl", simulated_documents("process", 60, 1))
    write_package(tmp_path / "installed", CRITIC, FAILING)
    path = os.pathsep.join([str(REPOSITORY / "workflow"), str(tmp_path / "installed")])
    command = [
        sys.executable,
        "-m",
        "macroscope",
        "sensitivity",
        "--reference",
        str(real),
        "--output",
        "judged",
        "--quick",
    ]
    done = subprocess.run(
        [*command, "--critic", "tendencies", "--critic", "theirs", "--cores", "2"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == IN_PART, done.stderr[-3000:]
    assert re.search("Missing: critic 'theirs' on 'reference' failed: .*eight rare words", done.stdout)
    folder = tmp_path / "judged" / "results" / "sensitivity" / "sensitivity"
    assert "eight rare words" in (folder / "index.html").read_text()
    assert set(pd.read_csv(folder / "pairs.csv")["critic"]) == {"tendencies"}
    assert pd.read_csv(folder / "missing.csv")["critic"].tolist() == ["theirs"]


def test_a_run_whose_critic_has_no_report_ends_so_and_goes_on_when_it_is_repaired(criticize, tmp_path):
    first, _ = criticize(WORK)
    assert first.returncode == 0, first.stdout[-3000:] + first.stderr[-3000:]

    write_package(tmp_path / "installed", CRITIC, FAILING_REPORT)
    command = [sys.executable, "-m", "macroscope", "run", "--config", "config.yaml", "--cores", "2"]
    path = os.pathsep.join([str(REPOSITORY / "workflow"), str(tmp_path / "installed")])
    work, environment = tmp_path / "judged", os.environ | {"PYTHONPATH": path}
    for name in ("tables", "report.html"):
        shutil.move(work / "results" / "criticism" / name, tmp_path / f"first-{name}")
    for _ in range(2):  # the second call has nothing else to do
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == IN_PART, done.stdout[-3000:] + done.stderr[-3000:]
        assert "The report lacks report of critic 'theirs' on 'reference'; the same command tries" in done.stderr
    assert (work / "results" / "criticism" / "report.html").exists()

    third, rules = criticize(WORK)
    assert third.returncode == 0, third.stdout[-3000:] + third.stderr[-3000:]
    assert "make_tables" in rules
