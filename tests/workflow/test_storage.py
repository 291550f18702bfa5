"""A run without a shared file system: every job reads and writes an S3 storage, here a server on this machine."""

import os
import socket
import subprocess
import sys

import pytest
import yaml

boto3 = pytest.importorskip("boto3", reason="Snakemake's S3 storage plugin is not installed")
moto_server = pytest.importorskip("moto.server", reason="moto, which serves S3 here, is not installed")

from macroscope.files import REPOSITORY  # noqa: E402 - after the skips

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
CONFIG = {
    "run": "remote",
    "statistics": {"resamples": 200, "permutations": 200},
    "corpora": {"wiki": {"source": "simulated", "kind": "wiki", "documents": 120}},
    "systems": {"shuffled": {"kind": "perturbation", "of": "control", "perturb": ["shuffle_sections"]}},
    "critics": {"strings": {"order": 3, "folds": 3}},
    "comparisons": [{"corpus": "wiki", "critics": ["strings"]}],
}


def free_port() -> int:
    """Return a port that no server uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def bucket(monkeypatch):
    """A client and the address of an S3 server with one empty bucket, `runs`."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=free_port())
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
    client.create_bucket(Bucket="runs")
    yield client, address
    server.stop()


def test_a_run_whose_files_are_in_a_storage_alone_has_its_report_there(bucket, tmp_path):
    client, address = bucket
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")),
        *("--configfile", "config.yaml", "--cores", "2", "--quiet", "all"),
        *("--workflow-profile", str(REPOSITORY / "profiles" / "default")),
        *("--default-storage-provider", "s3", "--default-storage-prefix", "s3://runs"),
        *("--storage-s3-endpoint-url", address, "--storage-s3-region", "us-east-1"),
        *("--shared-fs-usage", "persistence", "software-deployment", "sources", "storage-local-copies"),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | KEYS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    stored = {
        entry["Key"]
        for page in client.get_paginator("list_objects_v2").paginate(Bucket="runs")
        for entry in page.get("Contents", ())
    }
    assert {f"results/remote/{name}" for name in ("config.json", "report.html", "tables/statistics.csv")} <= stored
    assert not (tmp_path / "results" / "remote" / "report.html").exists()
    report = client.get_object(Bucket="runs", Key="results/remote/report.html")["Body"].read().decode()
    assert "shuffled" in report
