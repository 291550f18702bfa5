"""Executors: jobs that go to other machines run there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from macroscope.execution.job_client import SERVER
from macroscope.files import SNAKEFILE

PLUGINS = Path(__file__).with_name("executors")


def test_jobs_of_a_cluster_are_not_handed_to_the_job_server_of_the_machine_that_sends_them(tmp_path):
    """They inherit its environment, and a node can be that machine: the server's jobs are outside the node's limits."""
    config = {
        "run": "test",
        "corpora": {"real": {"source": "simulated", "documents": 50}},
        "systems": {"control": {"kind": "control"}},
        "critics": {"strings": {}},
        "comparisons": [{"corpus": "real", "systems": ["control"], "critics": ["strings"]}],
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--configfile", "config.yaml"),
        *("--executor", "noting", "--jobs", "1", "--until", "simulate_wiki"),
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(PLUGINS), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (tmp_path / "environment.json").exists(), done.stdout + done.stderr
    assert SERVER not in json.loads((tmp_path / "environment.json").read_text())
