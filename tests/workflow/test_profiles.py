"""The profiles: `snakemake` alone has the settings of one machine, and a cluster does not inherit its limits."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from macroscope.paths import REPOSITORY, SNAKEFILE

needs_slurm = pytest.mark.skipif(find_spec("snakemake_executor_plugin_slurm") is None, reason="no Slurm plugin")
TOY = """
import sys
print("cores:", workflow.cores, file=sys.stderr)

rule train:
    output: "model"
    resources: mem_mb=16000, gpu=1
    shell: "touch {output}"
"""


def snakemake(folder, *arguments):
    command = [sys.executable, "-m", "snakemake", "--nocolor", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def planned(tmp_path):
    """What a job would be given: GPUs and memory, with our profiles beside the Snakefile, called from elsewhere."""
    shutil.copytree(REPOSITORY / "profiles", tmp_path / "checkout" / "profiles")
    (tmp_path / "checkout" / "Snakefile").write_text(TOY)
    (tmp_path / "work").mkdir()

    def plan(*arguments):
        snakefile = tmp_path / "checkout" / "Snakefile"
        code, output = snakemake(tmp_path / "work", "--snakefile", snakefile, "--dry-run", *arguments)
        assert code == 0, output
        cores, gpus, memory = (re.search(rf"{name}(\d+)", output)[1] for name in ("cores: ", "gpu=", "mem_mb="))
        return {"cores": int(cores), "gpu": int(gpus), "mem_mb": int(memory)}

    return plan


def test_one_machine_by_itself(planned):
    assert planned("--cores", "3") == {"cores": 3, "gpu": 0, "mem_mb": 8000}
    assert planned() | {"cores": 0} == {"cores": 0, "gpu": 0, "mem_mb": 8000}
    given = planned("--cores", "3", "--resources", "mem_mb=12000", "gpu=1")
    assert given == {"cores": 3, "gpu": 1, "mem_mb": 12000}


@needs_slurm
def test_a_cluster_has_no_limits_of_one_machine(planned):
    assert planned("--workflow-profile", "slurm") | {"cores": 0} == {"cores": 0, "gpu": 1, "mem_mb": 16000}


@needs_slurm
def test_jobs_are_not_sent_to_a_cluster_with_the_limits_of_one_machine(tmp_path):
    code, output = snakemake(
        tmp_path,
        *("--snakefile", SNAKEFILE, "--configfile", REPOSITORY / "config.yaml", "--executor", "slurm", "--jobs", "2"),
    )
    assert code == 1
    assert "give --workflow-profile slurm" in output
