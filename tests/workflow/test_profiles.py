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
    """Return a function that plans the job that trains a model, from another folder, and returns its resources."""
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))

    def plan(*arguments):
        code, output = snakemake(
            tmp_path, "--snakefile", SNAKEFILE, "--configfile", "config.json", "--dry-run", *arguments
        )
        assert code == 0, output
        job = re.search(r"rule finetune:.*?resources: (.*?)\n", output, re.DOTALL)[1]
        return {name: int(re.search(rf"{name}=(\d+)", job)[1]) for name in WANTED}

    return plan


def test_jobs_have_what_this_machine_has(planned):
    assert planned("--cores", "3") == {name: min(limits()[name], wanted) for name, wanted in WANTED.items()}


def test_the_command_line_gives_other_limits(planned):
    assert planned("--cores", "3", "--resources", "mem_mb=12000", "gpu=4") == {"gpu": 1, "mem_mb": 12000}


def test_a_rule_s_resources_may_be_an_expression(planned):
    assert planned("--cores", "3", "--set-resources", "finetune:mem_mb=attempt*1234")["mem_mb"] == 1234


@needs_slurm
def test_a_cluster_has_no_limits_of_one_machine(planned):
    assert planned("--workflow-profile", "slurm") == WANTED
    assert planned("--executor", "slurm", "--jobs", "2") == WANTED
