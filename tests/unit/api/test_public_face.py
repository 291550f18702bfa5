"""The names of the public face: what they import, their types and docstrings, and the critics as functions."""

import ast
import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import macroscope
from macroscope.api.critic_functions import judge
from macroscope.critics import critics
from tests.plugins import install

STUB = Path(macroscope.__file__).with_suffix(".pyi")
LIGHT = {"macroscope", "importlib", "warnings"}
"""Top-level modules that `import macroscope` may import."""


def test_the_import_reads_nothing_but_the_names():
    # Without site packages, whose .pth files import modules of their own, the package is found by its folder.
    folder = str(Path(macroscope.__file__).parents[1])
    code = (
        f"import sys; sys.path.append({folder!r}); before = {{*sys.modules}};"
        " import macroscope; print(*{*sys.modules} - before)"
    )
    printed = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    imported = {name for name in printed.split() if not name.startswith("_")}
    assert {name.partition(".")[0] for name in imported} <= LIGHT
    assert not {name for name in imported if name.startswith("macroscope.")}


def test_every_public_name_is_typed_and_documented():
    tree = ast.parse(STUB.read_text())
    imported = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    annotated = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert {*imported - {None}, *annotated} == {*macroscope.__all__}
    page = (Path(macroscope.__file__).parents[2] / "docs" / "python.md").read_text()
    for name, module in macroscope._PUBLIC.items():
        # Read and not imported: some of the modules need torch.
        defined = ast.parse(Path(find_spec(module).origin).read_text()).body
        assert name == "critics" or any(
            getattr(node, "name", "") == name and ast.get_docstring(node) for node in defined
        )
        assert f"`{name}`" in page or f"macroscope.{name}" in page


@pytest.mark.parametrize("name", sorted(critics()))
def test_a_critic_is_a_function_with_its_options(name):
    function, options = getattr(macroscope.critics, name), critics()[name].options
    parameters = inspect.signature(function).parameters
    general = ["straighten_typography", "device", "seed", "n_jobs", "progress", "keep"]
    assert list(parameters) == ["real", "mine", *options.model_fields, *general]
    assert isinstance(sys.modules[f"macroscope.critics.{name}"], ModuleType)
    defaults = critics()[name].data.criticize or {}
    assert {option: parameters[option].default for option in defaults} == dict(defaults)
    for option, field in options.model_fields.items():
        assert f"\n{option}\n    " in inspect.getdoc(function)
        assert (field.description or "").split()[0] in inspect.getdoc(function)


def test_a_critic_of_a_plug_in_is_a_function_too(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    function = macroscope.critics.theirs
    assert inspect.signature(function).parameters["size"].default == 1
    assert "how long a text is" in inspect.getdoc(function)
    with pytest.raises(AttributeError, match="no attribute 'nobodys'"):
        macroscope.critics.nobodys  # noqa: B018


def test_a_critic_takes_its_options_and_those_of_compare(monkeypatch):
    given = {}
    monkeypatch.setattr(
        "macroscope.api.critic_functions.compare", lambda *texts, **arguments: given.update(arguments, texts=texts)
    )
    macroscope.critics.topics(["a"], ["b"], topics=5, seed=7)
    assert given == {"texts": (["a"], ["b"]), "critics": {"topics": {"topics": 5}}, "seed": 7}
    with pytest.raises(macroscope.MacroscopeError, match="'topics' has no option 'topic'; did you mean 'topics'"):
        judge("topics", ["a"], ["b"], topic=5)


def test_what_is_installed_is_listed():
    listed = macroscope.list_critics()
    assert list(listed.index) == sorted(critics())
    assert listed.loc["tendencies", ["default", "learns"]].tolist() == [True, False]
    languages = macroscope.list_languages()
    assert languages.loc["de", "name"] == "German"
    assert languages.loc["en", "tendencies"] == "full"
    assert languages.loc["de", "coreference"] == "not"


def test_a_misspelt_critic_is_an_attribute_error_with_the_name_that_is_meant():
    with pytest.raises(AttributeError, match=r"no attribute 'tendency'; did you mean 'tendencies'\?"):
        _ = macroscope.critics.tendency
