"""Examples import names of the package that exist: no test runs those that need weeks, ratings or other packages."""

import ast
from importlib import import_module
from importlib.util import find_spec

import pytest

from macroscope.files import REPOSITORY

EXAMPLES = sorted((REPOSITORY / "examples").rglob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_names_that_an_example_imports_exist(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "macroscope":
            module = import_module(node.module)
            absent = [name.name for name in node.names if not hasattr(module, name.name)]
            assert [name for name in absent if not find_spec(f"{node.module}.{name}")] == []
