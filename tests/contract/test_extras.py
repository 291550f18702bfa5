"""Extras of the installation: what critics and kinds of systems declare is what their code imports."""

import json
import subprocess
import sys
import tomllib

import pytest

from macroscope.critics import critics
from macroscope.extras import EXTRAS, extra_with
from macroscope.files import REPOSITORY
from macroscope.systems import kinds

IMPORTING = """
import importlib, json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split():
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
missing = {}
for module in sys.argv[2].split():
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing[module] = error.name
print(json.dumps(missing))
"""
"""A program that prints module -> the package of its first argument without which it cannot be imported."""
DECLARING = {**critics(), **kinds()}


def modules_of(plugin):
    return {stage.module(plugin.package) for stage in plugin.data.all_stages.values()}


@pytest.fixture(scope="module")
def failing():
    """Return module of a stage -> extra without which it cannot be imported."""
    packages = " ".join(package for packages in EXTRAS.values() for package in packages)
    modules = " ".join(sorted(set().union(*map(modules_of, DECLARING.values()))))
    command = [sys.executable, "-c", IMPORTING, packages, modules]
    missing = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return {module: extra_with(package.partition(".")[0]) for module, package in missing.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", DECLARING)
def test_what_is_always_needed_is_declared(name, failing):
    plugin = DECLARING[name]
    needed = {failing[module] for module in modules_of(plugin) & failing.keys()}
    assert needed == {extra for extra, condition in plugin.data.extras.items() if not condition}


@pytest.mark.parametrize("name", DECLARING)
def test_extras_depend_on_options_that_exist(name):
    plugin = DECLARING[name]
    assert plugin.data.extras.keys() <= EXTRAS.keys()
    options = {condition.partition("=")[0] for condition in plugin.data.extras.values() if condition}
    assert options <= plugin.options.model_fields.keys()


def test_extras_are_those_of_the_project():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    distributions = {"sklearn": "scikit-learn"}
    for extra, packages in EXTRAS.items():
        declared = " ".join(project["optional-dependencies"][extra])
        assert not [name for name in packages if distributions.get(name, name).replace("_", "-") not in declared]
