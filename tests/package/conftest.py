"""Distributions, and a fresh environment with the package installed from them; `make test-package` runs these tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from macroscope.files import REPOSITORY

ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def call(*command, folder, **changed):
    """Run a command without the checkout on the module search path."""
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, env=ENVIRONMENT | changed, capture_output=True, text=True, check=False)


def succeed(*command, folder, **changed):
    """Run a command that must succeed, and return what it prints."""
    done = call(*command, folder=folder, **changed)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """The interpreter of an environment with the dependencies of the core, in the locked versions.

    `MACROSCOPE_PACKAGE_VENV` names the folder of one that is kept between calls.
    """
    folder = Path(os.environ.get("MACROSCOPE_PACKAGE_VENV") or tmp_path_factory.mktemp("environment"))
    interpreter = folder / "bin" / "python"
    pip = (interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if not interpreter.exists():
        succeed(sys.executable, "-m", "venv", folder, folder=folder.parent)
    succeed(*pip, "build", "-c", REPOSITORY / "envs" / "core.lock.txt", REPOSITORY, folder=folder)
    succeed(interpreter, "-m", "pip", "uninstall", "--quiet", "--yes", "macroscope-text", folder=folder)
    return interpreter


@pytest.fixture(scope="session")
def distributions(python, tmp_path_factory):
    """The wheel of the checkout, and the sdist with the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    succeed(python, "-m", "build", "--wheel", "--outdir", folder / "checkout", REPOSITORY, folder=folder)
    succeed(python, "-m", "build", "--outdir", folder / "sdist", REPOSITORY, folder=folder)
    return {
        "wheel": next((folder / "checkout").glob("*.whl")),
        "sdist": next((folder / "sdist").glob("*.tar.gz")),
        "wheel of the sdist": next((folder / "sdist").glob("*.whl")),
    }


@pytest.fixture(scope="session", params=["wheel", "sdist"])
def macroscope(request, python, distributions):
    """The command of the package as it is installed from one of its distributions."""
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall")
    succeed(python, "-m", "pip", "install", *options, distributions[request.param], folder=python.parent)
    return python.parent / "macroscope"
