"""Another workflow that imports this one as a module: it runs, and its own rules and environment stay as they are."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from macroscope.files import SNAKEFILE

from ..contract.case import cases

CONFIG = {
    "macroscope": {
        "run": "imported",
        "statistics": {"resamples": 100, "permutations": 100},
        "corpora": {"texts": {"source": "simulated", "kind": "webtext", "documents": 120, "test_share": 0.3}},
        "systems": {"shuffled": {"kind": "simulated", "order": "shuffled", "samples": 30}},
        "critics": {"strings": cases()["strings"].options},
        "comparisons": [{"corpus": "texts", "systems": ["shuffled"], "critics": ["strings"]}],
    }
}
"""Config of the importing workflow; the config of macroscope is one of its keys."""
MODULE = f"""
configfile: "mine.yaml"

module macroscope:
    snakefile: {str(SNAKEFILE)!r}
    config: config["macroscope"]

use rule * from macroscope as macroscope_*

rule all:
    default_target: True
    input: rules.macroscope_all.input, "in_shell.json", "in_script.json"
"""
ALONE = """
rule all:
    default_target: True
    input: "in_shell.json", "in_script.json"
"""
OWN_RULES = """
import json, os, sys
from pathlib import Path

def surroundings():
    return {"environment": dict(os.environ), "sys.path": sys.path}

# At the end of the Snakefile: what importing macroscope has changed shows here.
if workflow.is_main_process:
    Path("while_read.json").write_text(json.dumps(surroundings()))

rule in_shell:
    output: "in_shell.json"
    resources: mem_mb=123, runtime=7
    params: given=lambda wildcards, resources: {name: resources[name] for name in ("mem_mb", "runtime")}
    shell: "python dump.py {output} '{params.given}'"

rule in_script:
    output: "in_script.json"
    resources: mem_mb=123, runtime=7
    script: "dump.py"
"""
DUMP = """
import json, os, sys
from pathlib import Path

if "snakemake" in globals():
    output, given = snakemake.output[0], {name: snakemake.resources[name] for name in ("mem_mb", "runtime")}
else:
    output, given = sys.argv[1], sys.argv[2]
found = {"environment": dict(os.environ), "sys.path": sys.path, "given": given}
Path(output).write_text(json.dumps(found))
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} | {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
}
"""Environment of every run; its `python` is the interpreter of the tests."""


def run(folder: Path, snakefile: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a workflow in its folder."""
    if not folder.exists():
        folder.mkdir()
        (folder / "Snakefile").write_text(snakefile)
        (folder / "dump.py").write_text(DUMP)
        (folder / "mine.yaml").write_text(yaml.safe_dump(CONFIG))
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Return the folder of a finished run of a workflow that imports this one."""
    folder = tmp_path_factory.mktemp("module") / "importing"
    done = run(folder, MODULE + OWN_RULES)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return folder


def test_the_report_and_the_workflow_s_own_files_are_made(imported):
    results = imported / "results" / "imported"
    assert "<html" in (results / "report.html").read_text()
    assert (results / "reader" / "index.html").exists()
    statistics = pd.read_csv(results / "tables" / "statistics.csv")
    assert {"control", "shuffled"} <= set(statistics["system"])
    assert json.loads((results / "config.json").read_text())["run"] == "imported"
    assert (imported / "in_shell.json").exists()
    assert (imported / "in_script.json").exists()


@pytest.mark.parametrize("name", ["while_read", "in_shell", "in_script"])
def test_the_workflow_s_own_rules_have_what_they_have_without_the_module(imported, name):
    """Environment, module search path and resources are the same with and without macroscope."""
    alone = imported.with_name("alone")
    if not alone.exists():
        done = run(alone, ALONE + OWN_RULES)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    surroundings = [_comparable(folder, name) for folder in (imported, alone)]
    assert surroundings[0] == surroundings[1]


def test_a_second_run_does_nothing_with_the_snakefile_of_deployed_workflows(imported):
    """The workflow catalogue and snakedeploy take workflow/Snakefile."""
    deployed = MODULE.replace(str(SNAKEFILE), str(SNAKEFILE.parent / "workflow" / "Snakefile"))
    (imported / "Deployed").write_text(deployed + OWN_RULES)
    dry = run(imported, "", "--dry-run", "--snakefile", "Deployed")
    assert dry.returncode == 0, dry.stderr
    assert "Nothing to be done" in dry.stdout + dry.stderr


def test_a_defect_of_its_config_is_one_sentence(tmp_path):
    broken = MODULE.replace('config["macroscope"]', 'config["macroscope"] | {"comparision": []}')
    done = run(tmp_path / "broken", broken + OWN_RULES, "--dry-run")
    assert done.returncode != 0
    assert "there is no such key; did you mean 'comparisons'?" in done.stdout + done.stderr


def _comparable(folder, name):
    """Return what a process of a workflow saw, without what differs between any two folders.

    Snakemake itself adds the folder of every snakefile that it reads to the module search path.
    """
    snakefiles = {str(path.parent) for path in (SNAKEFILE, *SNAKEFILE.parent.rglob("*.smk"))}
    state = json.loads(re.sub(r"snakemake-runtime-cache/\w+", "", (folder / f"{name}.json").read_text()))
    state["sys.path"] = [path for path in state["sys.path"] if path not in snakefiles]
    return json.loads(json.dumps(state).replace(str(folder), "<folder>"))
