"""Imports of test modules, which decide what `make quick` leaves out."""

import pytest

from macroscope.files import REPOSITORY

from ..imports import imported_packages

MODULES = {
    "a package": ("import torch.nn\n", True),
    "a name of a package": ("from torch import nn\n", True),
    "a module that imports it": ("from macroscope.critics.text_encoder import TextEncoder\n", True),
    "a module among other names": ("from macroscope.critics import (\n    critics,\n    text_encoder,\n)\n", True),
    "an import of a function": ("def test():\n    import torch\n", False),
    "a package with a similar name": ("import torchlight\n", False),
    "modules without it": ("import macroscope.documents\n", False),
}


@pytest.mark.parametrize("name", MODULES)
def test_packages_are_those_of_the_imports_at_the_beginning_of_a_line(name, tmp_path):
    text, is_reached = MODULES[name]
    (tmp_path / "test_it.py").write_text(text)
    assert ("torch" in imported_packages(tmp_path / "test_it.py")) == is_reached


def test_relative_imports_are_followed():
    assert "threading" in imported_packages(REPOSITORY / "tests" / "hub_server.py")
