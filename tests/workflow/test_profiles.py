"""The profiles: `snakemake` alone has the settings of one machine, and a cluster does not inherit its limits."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from macroscope.execution.limits import limits
from macroscope.files import SNAKEFILE

needs_slurm = pytest.mark.skipif(find_spec("snakemake_executor_plugin_slurm") is None, reason="no Slurm plugin")
CONFIG = {
    "run": "sizes",
    "corpora": {"wiki": {"source": "simulated"}},
    "systems": {"lm": {"kind": "language_model", "base": "gpt2", "titles": True}},
    "critics": {"tendencies": {}},
    "comparisons": [{"corpus": "wiki", "systems": ["lm"], "critics": ["tendencies"]}],
}
WANTED = {"gpu": 1, "mem_mb": 16000}
"""Resources that the training of such a model requests."""


def snakemake(folder, *arguments):
    command = [sys.executable, "-m", "snakemake", "--nocolor", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def planned(tmp_path):
    """Return a function that plans a run from another folder, and returns the resources of a job of each rule."""
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))

    def plan(*arguments):
        code, output = snakemake(
            tmp_path, "--snakefile", SNAKEFILE, "--configfile", "config.json", "--dry-run", *arguments
        )
        assert code == 0, output
        jobs = dict(re.findall(r"^rule (\w+):.*?resources: (.*?)\n", output, re.DOTALL | re.MULTILINE))
        return {
            rule: {name: int(re.search(rf"{name}=(\d+)", jobs[rule])[1]) for name in WANTED}
            for rule in ("finetune", "sample")
        }

    return plan


def test_jobs_have_what_this_machine_has(planned):
    expected = {name: min(limits()[name], wanted) for name, wanted in WANTED.items()}
    assert planned("--cores", "3")["finetune"] == expected


def test_the_command_line_gives_other_limits_and_an_expression(planned):
    limit, expression = ("--resources", "mem_mb=12000", "gpu=4"), ("--set-resources", "sample:mem_mb=attempt*1234")
    resources = planned("--cores", "3", *limit, *expression)
    assert resources["finetune"] == {"gpu": 1, "mem_mb": 12000}
    assert resources["sample"]["mem_mb"] == 1234


@needs_slurm
def test_a_cluster_has_no_limits_of_one_machine(planned):
    assert planned("--workflow-profile", "slurm")["finetune"] == WANTED
    assert planned("--executor", "slurm", "--jobs", "2")["finetune"] == WANTED
