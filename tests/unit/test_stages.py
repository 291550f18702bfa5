"""Stages: what the command line gives is what the function is called with, and nothing is passed over."""

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Literal

import pytest

from macroscope.config.options import Options
from macroscope.config.unions import union_of
from macroscope.errors import MacroscopeError
from macroscope.registry import Declared
from macroscope.stages import NO_NAME, Stage, alternatives, as_json, flags, input_flags, run_stage


class Shade(Options):
    """Options for a test."""

    kind: Literal["shade"]
    depth: int = 3
    seed: int = 0


@pytest.fixture
def calls(monkeypatch):
    """What the stages' function was called with."""
    found = []
    module = ModuleType("shades.work")
    module.work = lambda **arguments: found.append(arguments)
    monkeypatch.setitem(__import__("sys").modules, "shades.work", module)
    return found


def test_a_stage_is_called_with_what_it_reads(calls):
    stage = Stage("work:work", reads="documents files prompts seed checkpoints", uses="depth")
    inputs = ["documents=d=1.parquet", "files=a", "files=b"]
    options = Shade(kind="shade", depth=5)
    run_stage(stage, "shades", options, inputs, ["seed=4", "checkpoints=c"], Path("out"))
    assert calls == [
        {
            "documents": Path("d=1.parquet"),
            "files": [Path("a"), Path("b")],
            "prompts": None,  # it need not be there
            "seed": 4,
            "checkpoints": Path("c"),
            "options": options,
            "output": Path("out"),
        }
    ]


@pytest.mark.parametrize(
    ("inputs", "values", "message"),
    [
        ([], ["seed=1"], "--input: the stage reads 'documents'; give --input documents=..."),
        (["documents=d"], [], "--value: the stage reads 'seed'; give --value seed=..."),
        (["document=d"], [], "--input document=d: the stage reads no 'document'; did you mean 'documents'?"),
        (["documents"], [], "--input documents: give it as NAME=..."),
        (["documents=d"], ["seed=one"], r"--value seed=one: not what 'seed' is \(int\)"),
    ],
)
def test_what_is_missing_or_unknown_is_one_sentence(calls, inputs, values, message):
    with pytest.raises(MacroscopeError, match=message):
        run_stage(Stage("work:work", reads="documents seed"), "shades", None, inputs, values, Path("out"))
    assert not calls


class Input(SimpleNamespace):
    """The inputs of a job, as a rule's parameter function is given them."""

    def keys(self):
        return vars(self).keys()

    def __getitem__(self, name):
        return vars(self)[name]


def test_a_rule_passes_on_what_its_stage_reads():
    stage = Stage("work:work", reads="documents files prompts seed threads processes")
    given = Input(documents="d", files=["a", "b"], prompts=[], code=["x.py"])
    words = input_flags(stage)(SimpleNamespace(), given, threads=2, resources={"gpu": 1})
    assert words == [
        *("--input", "documents=d", "--input", "files=a", "--input", "files=b"),
        *("--value", "threads=2", "--value", "processes=1"),
    ]
    assert flags("--value", {"resampling": {"b": 1, "a": 2}}) == ["--value", 'resampling={"a": 2, "b": 1}']


def test_options_and_wildcards():
    assert json.loads(as_json(Shade(kind="shade"), ["kind", "depth"])) == {"kind": "shade", "depth": 3}
    assert alternatives(["a", "b-c"]) == r"a|b\-c"
    assert alternatives([]) == NO_NAME


def test_options_are_told_by_the_name_of_what_declares_them(monkeypatch):
    module = ModuleType("shades.options")
    module.Shade = Shade
    monkeypatch.setitem(__import__("sys").modules, "shades.options", module)
    data = SimpleNamespace(options="options:Shade", stages={})
    assert union_of({"shade": Declared("shade", "shades", data)}, "kind")
    with pytest.raises(MacroscopeError, match=r"shades: .*give them kind: Literal\['hue'\]"):
        union_of({"hue": Declared("hue", "shades", data)}, "kind")
