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


def test_the_reference_has_the_options_of_users_and_no_others():
    page = (FOLDER / "commands.md").read_text()
    assert "| `--reference FILE` | Real texts" in page
    assert "| 4 |" in page.partition("## macroscope")[0]
    assert "## macroscope corpora" not in page
    assert "--code" not in page
    assert "<path>" not in page
