"""Tracking of code: the parameter that Snakemake sees, what is recorded, and what is accepted."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY, write_text
from macroscope.fingerprint import fingerprint
from macroscope.plan.code import CodeTracking

MODULE = "macroscope.statistics.bootstrap"
OTHER = "macroscope.statistics.p_values"


def flags(code, record):
    return f"--code {code} --record {record}"


def test_flags_name_the_fingerprint_and_a_record_for_each_job():
    tracking = CodeTracking("results/test")
    function = tracking("sample", MODULE)
    job = {"run": "test", "system": "lm", "corpus": "wiki", "shard": "3"}
    assert function(job) == flags(fingerprint([MODULE]), "results/test/code/sample/wiki/3/lm.txt")
    assert function({"run": "test"}) == flags(fingerprint([MODULE]), "results/test/code/sample.txt")
    assert "'results/a b/code/sample.txt'" in CodeTracking("results/a b")("sample", MODULE)({})


def test_modules_and_resources_may_depend_on_the_job(tmp_path):
    (tmp_path / "list.txt").write_text("one")
    function = CodeTracking("results/test")("r", lambda job: [job["module"]], lambda job: [tmp_path / job["file"]])
    job = {"module": OTHER, "file": "list.txt"}
    assert fingerprint([OTHER], [tmp_path / "list.txt"]) in function(job)


def test_modules_of_jobs_are_those_of_their_rules_in_the_order_of_the_rules():
    """The server of jobs imports them: none of a rule that does not run."""
    tracking = CodeTracking("results/test")
    tracking("extract", "first")
    tracking("project", lambda job: [job["module"], "shared"])
    tracking("train", ["absent"])
    tracking("write_report", ["shared", "last"])
    projections = [("project", {"module": name}) for name in ("second", "third")]
    jobs = [("write_report", {}), *projections, ("all", {}), ("extract", {})]
    assert tracking.modules(jobs) == ["first", "second", "shared", "third", "last"]


def test_an_accepted_rule_has_the_fingerprint_of_its_record(tmp_path):
    results = str(tmp_path)
    tracking = CodeTracking(results, ["sample"])
    sample, score = tracking("sample", [MODULE]), tracking("score", [MODULE])
    current = fingerprint([MODULE])
    for rule, system, code in (("sample", "a", "older"), ("sample", "b", current), ("score", "a", "older")):
        write_text(tmp_path / "code" / rule / f"{system}.txt", f"{code}\n")
    assert "--code older " in sample({"system": "a"})
    assert f"--code {current} " in sample({"system": "b"})
    assert f"--code {current} " in sample({"system": "never-run"})
    assert f"--code {current} " in score({"system": "a"})
    sample({"system": "a"})  # asked twice, counted once
    assert tracking.older() == {"sample": 1}


def test_nothing_is_read_where_nothing_is_accepted(tmp_path):
    (tmp_path / "code" / "sample.txt").mkdir(parents=True)  # reading it would fail
    tracking = CodeTracking(str(tmp_path))
    assert fingerprint([MODULE]) in tracking("sample", [MODULE])({})
    assert tracking.older() == {}


def test_names_of_rules_are_checked():
    tracking = CodeTracking("results/test", ["finetun"])
    tracking("finetune", MODULE)
    with pytest.raises(MacroscopeError, match=r"no rule 'finetun'; did you mean 'finetune'\?"):
        tracking.check_names()
    tracking("finetun", MODULE)
    tracking.check_names()


SNAKEFILE = """
import sys
from pathlib import Path
sys.path.insert(0, str(workflow.basedir))
from macroscope.plan.code import CodeTracking

tracking = CodeTracking("results/test", config.get("accept", "").split())
# Not in `shell` itself, which Snakemake compares: it names this folder.
shell.prefix(f"export PYTHONPATH={workflow.basedir}:$PYTHONPATH PATH={Path(sys.executable).parent}:$PATH; ")

rule all:
    input: expand("results/test/{critic}/{system}.txt", critic=["one", "two"], system=["a", "b"])

for critic in ["one", "two"]:
    rule:
        name: f"project_{critic}"
        output: f"results/{{run}}/{critic}/{{system}}.txt"
        # The loop's variable stands in params: `shell` is evaluated when the job runs, and the loop has ended then.
        params: code=tracking(f"project_{critic}", f"toy.{critic}"), critic=critic
        shell: "python -m toy {params.code} {params.critic} {output}"

tracking.check_names()
"""
TOY = """
import sys
from importlib import import_module
from pathlib import Path
from macroscope.files import write_text

_, _, code, _, record, critic, output = sys.argv
Path(output).write_text(str(import_module(f"toy.{critic}").formula()))
write_text(Path(record), f"{code}\\n")
"""


class Workflow:
    """A workflow with two rules and a package of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "toy").mkdir(parents=True)
        (folder / "Snakefile").write_text(SNAKEFILE)
        (folder / "toy" / "__init__.py").touch()
        (folder / "toy" / "__main__.py").write_text(TOY)
        for name in ("one", "two"):
            (folder / "toy" / f"{name}.py").write_text("def formula():\n    return 1\n")

    def snakemake(self, *arguments):
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def pending(self, *arguments):
        code, output = self.snakemake("--dry-run", *arguments)
        assert code == 0, output
        return {name: int(n) for name, n in re.findall(r"^(project_\w+) +(\d+)$", output, re.MULTILINE)}


def test_what_runs_again(tmp_path):
    workflow = Workflow(tmp_path / "first")
    module = workflow.folder / "toy" / "one.py"
    accepted = ("--config", "accept=project_one")
    code, output = workflow.snakemake("results/test/one/a.txt", "results/test/two/a.txt", "results/test/two/b.txt")
    assert code == 0, output

    # The run was killed half-way, and now the formula is edited.
    module.write_text(module.read_text().replace("1", "2"))
    assert workflow.pending() == {"project_one": 2}
    assert workflow.pending(*accepted) == {"project_one": 1}
    code, output = workflow.snakemake(*accepted)
    assert code == 0, output
    assert [(workflow.folder / f"results/test/one/{job}.txt").read_text() for job in "ab"] == ["1", "2"]

    # Neither comments nor another folder count, whether older code is accepted or not.
    for path in (module, module.with_name("two.py")):
        path.write_text("# a comment\n" + path.read_text())
    shutil.move(workflow.folder, tmp_path / "second")
    workflow.folder = tmp_path / "second"
    assert workflow.pending(*accepted) == {}
    # Without the acceptance: what older code has made, alone.
    assert workflow.pending() == {"project_one": 1}
