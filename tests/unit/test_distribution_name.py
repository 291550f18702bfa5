"""The name of the distribution: `macroscope` is the package of another author, with a command of that name."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from macroscope.extras import DISTRIBUTION, EXTRAS, name_command
from macroscope.files import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
WRITTEN = {".md", ".py", ".toml", ".yaml", ".yml", ".cff", ".smk", ".rst", ".jinja", ".html", ".js", ".txt", ""}
INSTALLERS = r"(?:(?:pip3?|pipx|uv pip|uv tool|conda|mamba) install|uv add|pipx run|uvx)"
BARE = re.compile(
    rf"{INSTALLERS} [^\n`&;|#]*?(?<![\w./:-])macroscope(?![\w./-])"  # pip install … macroscope
    r"|(?<![\w./-])macroscope\[\w"  # macroscope[models]
    r"|dependencies = \[[^]]*\"macroscope[\"=<>~\[]"
)
THEIRS = "import sys\nfrom macroscope import cli\nsys.exit(cli())\n"
"""The script that pip writes for the entry point `macroscope:cli` of macroscope 0.1.1."""


def written_files():
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]:
        path = REPOSITORY / name
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file() and file.suffix in WRITTEN and not {"gallery", "__pycache__"} & {*file.parts}:
                yield file


def test_the_project_and_the_messages_have_one_name():
    assert PROJECT["project"]["name"] == DISTRIBUTION == "macroscope-text"
    assert PROJECT["project"]["scripts"] == {"macroscope": "macroscope.cli:main"}
    for extra in EXTRAS:
        assert name_command(extra) == f"pip install 'macroscope-text[{extra}]'"


@pytest.mark.parametrize(
    "text",
    [
        "    pip install macroscope",
        "`pip install 'macroscope[models]'`",
        "pip install snakedeploy 'macroscope[models]'",
        "uv add macroscope",
        'dependencies = ["numpy", "macroscope"]',
        "`macroscope[models]` has them",
        "pip install macroscope==0.2",
    ],
)
def test_what_would_install_the_package_of_others_is_found(text):
    assert BARE.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'macroscope-text[models]'",
        "pip install '.[models]'    # macroscope needs it",
        "pip install ./macroscope_text-0.1.0-py3-none-any.whl && macroscope demo",
        "pip uninstall macroscope",
    ],
)
def test_what_installs_ours_is_not(text):
    assert not BARE.search(text)


def test_no_page_message_or_file_installs_the_package_of_others():
    files = list(written_files())
    assert len(files) > 1000
    wrong = {file.relative_to(REPOSITORY).as_posix() for file in files if BARE.search(file.read_text(encoding="utf-8"))}
    assert wrong == {"tests/unit/test_distribution_name.py"}


@pytest.fixture
def beside_theirs(tmp_path):
    """Run the script of the other package, whose files lie beside ours."""
    site = tmp_path / "site"
    metadata = site / "macroscope-0.1.1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: macroscope\nVersion: 0.1.1\n")
    (metadata / "entry_points.txt").write_text("[console_scripts]\nmacroscope = macroscope:cli\n")
    (site / "macroscope.py").write_text("def cli():\n    print('theirs')\n")
    (site / "macroscope").symlink_to(REPOSITORY / "workflow" / "macroscope")
    (tmp_path / "theirs.py").write_text(THEIRS)

    def call(*arguments):
        command = [sys.executable, "theirs.py", *arguments]
        path = os.environ | {"PYTHONPATH": str(site)}
        return subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, check=False)

    return call


SAID = "the package macroscope 0.1.1 of other authors also has a command macroscope; uninstall both, and install"


@pytest.mark.slow
def test_the_versions_say_that_the_other_package_is_there(beside_theirs):
    done = beside_theirs("--version")
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, f"warning: {SAID} macroscope-text again")
    assert json.loads(beside_theirs("--version", "--json").stdout)["clash"] == f"{SAID} macroscope-text again"


@pytest.mark.slow
def test_the_first_error_says_so_too(beside_theirs):
    done = beside_theirs("config", "check", "none.yaml")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"macroscope: warning: {SAID} macroscope-text again",
        "macroscope: error: none.yaml: no such file or folder; give another path",
    ]


def test_without_it_nothing_is_said(capsys):
    from macroscope.cli.verbs import show_versions

    show_versions(as_json=True)
    assert json.loads(capsys.readouterr().out)["clash"] is None
