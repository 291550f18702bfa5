"""The generated reference of the command line, and the generated list of layouts."""

import importlib.util

import pytest

from macroscope.files import REPOSITORY

FOLDER = REPOSITORY / "docs" / "generated"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["commands_page", "layouts_page"])
def test_a_generated_page_is_up_to_date(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == getattr(module, name)(), "run make docs"


def test_the_reference_has_the_commands_of_users_apart_from_those_of_developers():
    users, _, developers = (FOLDER / "commands.md").read_text().partition("## Commands for developers")
    assert "| `macroscope criticize` | Judge whether" in users
    assert "| `macroscope human sheet` |" in users
    assert "| 4 |" in users.partition("## Commands of users")[0]
    assert "`macroscope corpora " not in users
    assert "`macroscope criticize`" not in developers
