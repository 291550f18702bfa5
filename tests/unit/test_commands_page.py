"""The generated reference of the command line."""

import importlib.util

import pytest

from macroscope.files import REPOSITORY

FOLDER = REPOSITORY / "docs" / "generated"


@pytest.mark.slow
def test_the_reference_of_the_commands_is_up_to_date():
    spec = importlib.util.spec_from_file_location("commands_page", FOLDER / "commands_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.commands_page(), "run make docs"


def test_the_reference_has_the_commands_of_users_apart_from_those_of_developers():
    users, _, developers = (FOLDER / "commands.md").read_text().partition("## Commands for developers")
    assert "| `macroscope criticize` | Judge whether" in users
    assert "| `macroscope human sheet` |" in users
    assert "| 4 |" in users.partition("## Commands of users")[0]
    assert "`macroscope corpora " not in users
    assert "`macroscope criticize`" not in developers
