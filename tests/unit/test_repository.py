"""The place of the workflow: a checkout, or a copy of it in an installed package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from macroscope.execution import job_environment
from macroscope.execution.job_environment import imports, keep_package_clean
from macroscope.files import IS_CHECKOUT, PACKAGE, REPOSITORY, find_repository

OTHER_ENVIRONMENT = {"CONDA_PREFIX": "/work/.snakemake/conda/abc_"}


def test_the_workflow_of_these_tests_is_the_checkout():
    assert IS_CHECKOUT
    assert Path(__file__).parents[2] == REPOSITORY


def test_an_installed_package_has_a_copy(tmp_path):
    package = tmp_path / "site-packages" / "macroscope"
    (package / "repository").mkdir(parents=True)
    assert find_repository(package) == package / "repository"
    assert find_repository(tmp_path / "checkout" / "workflow" / "macroscope") == tmp_path / "checkout"


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(job_environment, "IS_CHECKOUT", False)


def variables_of_job(folder, **changed):
    """Return PATH and PYTHONPATH as a job of a run in `folder` has them."""
    prefix = imports(folder).replace("{{", "{").replace("}}", "}")
    command = ["bash", "-uc", prefix + 'echo "${PATH%%:*}"; echo "${PYTHONPATH:-}"']
    environment = {"PATH": os.environ["PATH"], **changed}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_jobs_of_a_checkout_import_its_package(tmp_path):
    package = f"{REPOSITORY / 'workflow'}:"
    assert variables_of_job(tmp_path) == [str(Path(sys.executable).parent), package]
    assert variables_of_job(tmp_path, **OTHER_ENVIRONMENT)[1] == package


def test_other_environments_import_an_installed_package_and_nothing_beside_it(installed, tmp_path):
    assert variables_of_job(tmp_path) == [str(Path(sys.executable).parent)]
    python = variables_of_job(tmp_path, **OTHER_ENVIRONMENT)
    assert python[0] == os.environ["PATH"].partition(":")[0]
    folder = Path(python[1].rstrip(":"))
    assert [path.name for path in folder.iterdir()] == ["macroscope"]
    assert (folder / "macroscope").resolve() == PACKAGE
    (folder / "macroscope").unlink()
    (folder / "macroscope").symlink_to("moved")
    imports(tmp_path)
    assert (folder / "macroscope").resolve() == PACKAGE


def test_compiled_functions_are_not_written_beside_an_installed_package(installed, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    keep_package_clean()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "macroscope" / "numba")
