"""The content of the wheel and the sdist."""

import re
import tarfile
import zipfile

import pytest

from macroscope.files import REPOSITORY

pytestmark = pytest.mark.package
COPIED = ("config.yaml", "Snakefile", "envs/statistics.yaml", "examples/plugin-critic/pyproject.toml")
COPIED += ("experiments/deng2022.yaml", "profiles/slurm/profile.yaml", "resources/sources.yaml", "workflow/Snakefile")
COPIED += ("workflow/report/report.html.jinja", "workflow/rules/stages.smk", "workflow/schemas/config.schema.json")
COPIED += ("workflow/scripts/write_config.py",)


def files_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.getinfo(name).CRC for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_has_the_package_with_the_workflow_and_snakemakes_plugin_alone(distributions):
    files = files_of(distributions["wheel"])
    assert {name.partition("/")[0] for name in files} == {"macroscope", "snakemake_logger_plugin_macroscope"}
    assert {f"macroscope/repository/{name}" for name in COPIED} <= files.keys()
    assert not [name for name in files if re.search(r"__pycache__|\.pyc$|/\.", name)]
    sources = (REPOSITORY / "workflow" / "macroscope").rglob("*")
    package = {str(path.relative_to(REPOSITORY / "workflow")) for path in sources if path.is_file()}
    assert {name for name in package if "__pycache__" not in name} <= files.keys()


def test_the_sdist_makes_the_same_wheel(distributions):
    assert files_of(distributions["wheel of the sdist"]) == files_of(distributions["wheel"])


def test_the_sdist_has_the_tests_and_no_results(distributions):
    with tarfile.open(distributions["sdist"]) as archive:
        folders = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"tests", "docs", "Makefile", "CHANGELOG.md"} <= folders
    assert not folders & {"results", "data", "logs", ".snakemake", ".venv"}
