"""Other people's critics count as ours: the example package, installed into an environment of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from macroscope.files import REPOSITORY

from ..environments import make_environment, site_packages
from .conftest import Run

EXAMPLE = REPOSITORY / "examples" / "plugin-critic"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Interpreter of an environment that has the plug-in, and sees all that this one has."""
    folder = tmp_path_factory.mktemp("plugin") / "venv"
    commands = make_environment(folder)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    built = folder / "source"
    subprocess.run(["cp", "-r", str(EXAMPLE), str(built)], check=True)  # the build leaves nothing in the checkout
    subprocess.run([*install, "--target", str(site_packages(folder)), str(built)], check=True)
    return commands / "python"


def call(python, *arguments, cwd, **environment):
    return subprocess.run(
        [str(python), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_passes_the_contract_tests(python):
    done = call(
        *(python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/contract/test_critics.py", "-k", "questions"),
        cwd=REPOSITORY,
        MACROSCOPE_CASES=str(EXAMPLE / "cases"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 12, done.stdout


def test_a_statistic_a_figure_and_a_score_as_the_page_shows_them(python, tmp_path):
    page = (REPOSITORY / "docs" / "extending.md").read_text()
    package = tmp_path / "installed" / "macroscope_questions"
    shutil.copytree(EXAMPLE / "macroscope_questions", package)
    for name in ("__init__.py", "questions.py"):
        (code,) = re.findall(rf"```python\n# macroscope_questions/{name}\n(.*?)```", page, re.DOTALL)
        path = package / name
        path.write_text(f"{path.read_text()}\nfrom macroscope.critics.declaration import AttributionScore\n\n{code}")
    (package / "captions" / "shares.rst").write_text("Shares of questions.")
    texts = [f"Is it so, number {n}? It is. And so it was." if n % 4 else f"It is {n}." for n in range(40)]
    script = f"""
import macroscope, pandas as pd
result = macroscope.compare({texts!r}, {texts[::-1]!r}, critics="questions", n_jobs=2, progress=False)
(row,) = result.statistics.query("system == 'candidate' and statistic == 'silent_share'").itertuples()
assert (row.value, row.ci_low < 0.25 < row.ci_high, result.missing) == (0.25, True, []), row
text = result.documents.query("system == 'candidate'").iloc[0]
assert round(text.score, 2) == 0.33, text
assert [(mark["start"], mark["end"]) for mark in text["marks"]] == [(0, 20)], text["marks"]
result.report("report")
"""
    path = os.pathsep.join([str(REPOSITORY / "workflow"), str(package.parent)])
    done = call(python, "-c", script, cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr[-3000:]
    shown = (tmp_path / "report" / "pages" / "critic.questions.reference.html").read_text()
    assert "Questions in single texts" in shown
    assert "Shares of questions." in shown
    assert (tmp_path / "report" / "figures" / "questions_shares_reference.svg").exists()


def test_its_options_are_closed(python, tmp_path):
    run = Run(tmp_path)
    run.config["critics"]["questions"] = {"mark": "?"}
    run.save()
    done = call(python, "-m", "macroscope", "config", "check", run.work / "config.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "critics.questions.mark: there is no such key; did you mean 'marks'?" in done.stderr


def test_a_run_judges_by_it(python, tmp_path):
    run = Run(tmp_path)
    run.config["systems"] = {"mine": run.config["systems"]["mine"]}
    run.config["comparisons"] = [{"corpus": "real", "systems": ["mine"], "critics": ["questions"]}]
    run.config["critics"] = {"questions": {"marks": "?؟"}}
    run.config["gaps"] = [{"corpus": "real", "critic": "strings", "reason": "needs more texts"}]
    run.save()
    arguments = ("--snakefile", run.checkout / "Snakefile", "--configfile", run.work / "config.yaml", "--cores", "2")
    done = call(python, "-m", "snakemake", *arguments, cwd=run.work)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    results = run.work / "results" / "test"
    table = pd.read_csv(results / "tables" / "statistics.csv")
    assert set(table["critic"]) == {"questions"}
    assert table["signature"].str.contains(r"critic:questions\|marks:\?؟").all()
    cells = pd.read_csv(results / "tables" / "scorecard.csv", keep_default_na=False).query("verdict == 'skipped'")
    assert cells[["critic", "system", "reason"]].to_numpy().tolist() == [
        ["strings", system, "needs more texts"] for system in ("split_half", "mine")
    ]
    assert "\nstrings: skipped: needs more texts.\n" in (results / "report.html").read_text()
    assert "How often the texts ask" in (results / "pages" / "critic.questions.real.html").read_text()
    assert yaml.safe_load((results / "config.json").read_text())["critics"]["questions"] == {"marks": "?؟"}
    dry = call(python, "-m", "snakemake", "--dry-run", *arguments, cwd=run.work)
    assert "Nothing to be done" in dry.stdout + dry.stderr
    _raise_version(python)
    dry = call(python, "-m", "snakemake", "--dry-run", *arguments, cwd=run.work)
    assert "project_questions" in dry.stdout + dry.stderr


def _raise_version(python: Path) -> None:
    """Raise the version of the stage `project` of the installed plug-in."""
    (module,) = python.parents[1].glob("lib/python*/site-packages/macroscope_questions/__init__.py")
    text, stage = module.read_text(), 'Stage("questions:project", '
    assert stage in text
    module.write_text(text.replace(stage, f"{stage}version=2, "))
