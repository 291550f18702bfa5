"""Stages: what the command line gives is what the function is called with, and nothing is passed over."""

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Literal

import pytest

from macroscope.config.schema import union_of
from macroscope.errors import MacroscopeError
from macroscope.options import Options, Resampling
from macroscope.registry import Plugin
from macroscope.stages import NO_NAME, Stage, alternatives, arguments, as_json, flags, input_flags, run_stage


class Shade(Options):
    """Options for a test."""

    kind: Literal["shade"]
    depth: int = 3
    seed: int = 0


@pytest.fixture
def calls(monkeypatch):
    """Return a list of the arguments of each call of the stages' function."""
    arguments_of_calls = []

    def work(output, **arguments):
        arguments_of_calls.append(arguments | {"output": output})
        output.touch()

    module = ModuleType("shades.work")
    module.work, module.idle = work, lambda **arguments: None
    monkeypatch.setitem(__import__("sys").modules, "shades.work", module)
    return arguments_of_calls


def test_a_stage_that_writes_nothing_is_one_sentence(calls, tmp_path):
    for folder, kind in ((False, "file"), (True, "folder")):
        with pytest.raises(MacroscopeError, match=f"work:idle of shades ended without writing the {kind} .*/out"):
            run_stage(Stage("work:idle", folder=folder), "shades", None, [], [], tmp_path / "out")
    with pytest.raises(MacroscopeError, match=r"without writing the file .*/more.csv"):
        run_stage(Stage("work:work", beside="more.csv"), "shades", None, [], [], tmp_path / "out")


def test_a_stage_is_called_with_what_it_reads(calls, tmp_path):
    stage = Stage("work:work", inputs="documents files prompts? seed checkpoints", options="depth")
    inputs = ["documents=d=1.parquet", "files=a", "files=b"]
    options = Shade(kind="shade", depth=5)
    run_stage(stage, "shades", options, inputs, ["seed=4", "checkpoints=c"], tmp_path / "out")
    assert calls == [
        {
            "documents": Path("d=1.parquet"),
            "files": [Path("a"), Path("b")],
            "prompts": None,  # it need not be there
            "seed": 4,
            "checkpoints": Path("c"),
            "options": options,
            "output": tmp_path / "out",
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
        run_stage(Stage("work:work", inputs="documents seed"), "shades", None, inputs, values, Path("out"))
    assert not calls


STAGE = Stage(
    "work:work", inputs="latents control_latents all_latents shared? seed confidence resampling", options="depth"
)
LATENTS = ["latents=a", "control_latents=c"]
VALUES = ["seed=1", "confidence=0.9", 'resampling={"resamples": 7, "seed": 3}']


def test_arguments_have_their_types():
    assert arguments(
        STAGE,
        [*LATENTS, "all_latents=a", "all_latents=b"],
        [*VALUES, "corpus=c", 'pairs=[["a", "b"]]', "texts_shard=2"],
        [*STAGE.value_names, "corpus"],
        ["pairs", "texts_shard", "system"],
    ) == {
        "latents": Path("a"),
        "control_latents": Path("c"),
        "all_latents": [Path("a"), Path("b")],
        "shared": None,
        "seed": 1,
        "confidence": 0.9,
        "resampling": Resampling(resamples=7, seed=3),
        "corpus": "c",
        "pairs": [["a", "b"]],
        "texts_shard": 2,
    }
    assert arguments(STAGE, [*LATENTS, "shared=x=y"], VALUES)["shared"] == Path("x=y")


def test_values_that_are_required_replace_those_that_the_stage_reads():
    assert arguments(STAGE, LATENTS, ["seed=1"], ["seed"])["seed"] == 1
    with pytest.raises(MacroscopeError, match="the stage reads no 'confidence'"):
        arguments(STAGE, LATENTS, ["seed=1", "confidence=0.9"], ["seed"])
    assert arguments(STAGE, LATENTS, ["seed=1", "confidence=0.9"], ["seed"], ["confidence"])["confidence"] == 0.9


@pytest.mark.parametrize(
    ("inputs", "values", "also", "message"),
    [
        (LATENTS[:1], VALUES, [], "--input: the stage reads 'control_latents'; give --input control_latents=..."),
        (LATENTS, VALUES[1:], [], "--value: the stage reads 'seed'; give --value seed=..."),
        (LATENTS, VALUES, ["system"], "--value: the stage reads 'system'; give --value system=..."),
        (
            [*LATENTS, "contol_latents=c"],
            VALUES,
            [],
            "--input contol_latents=c: the stage reads no 'contol_latents'; did you mean 'control_latents'?",
        ),
        (LATENTS, [*VALUES, "confidense=1"], [], "the stage reads no 'confidense'; did you mean 'confidence'?"),
        (LATENTS, [*VALUES, "corpus=c"], [], "--value corpus=c: the stage reads no 'corpus'"),
        ([*LATENTS, "depth=3"], VALUES, [], "--input depth=3: the stage reads no 'depth'"),  # it is an option
        (LATENTS, [*VALUES, "latents=a"], [], "--value latents=a: the stage reads no 'latents'"),  # it is an input
        (LATENTS, [*VALUES, "seed"], [], "--value seed: give it as NAME=..."),
        (LATENTS, [*VALUES, "seed=1.5"], [], "--value seed=1.5: not what 'seed' is (int)"),
        (LATENTS, [*VALUES, "confidence=high"], [], "--value confidence=high: not what 'confidence' is (float)"),
        (LATENTS, [*VALUES, "resampling={"], [], "--value resampling={: not what 'resampling' is (dict)"),
        (LATENTS, [*VALUES, 'resampling={"samples": 1}'], [], "not what 'resampling' is (dict)"),
        (LATENTS, [*VALUES, "resampling=[1]"], [], "not what 'resampling' is (dict)"),
        (LATENTS, [*VALUES, "systems=control"], ["systems"], "--value systems=control: not what 'systems' is (list)"),
        (LATENTS, [*VALUES, 'systems="control"'], ["systems"], "not what 'systems' is (list)"),
    ],
)
def test_wrong_arguments_are_one_sentence(inputs, values, also, message):
    with pytest.raises(MacroscopeError) as error:
        arguments(STAGE, inputs, values, [*STAGE.value_names, *also])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


class Input(SimpleNamespace):
    """The inputs of a job, as a rule's parameter function is given them."""

    def keys(self):
        return vars(self).keys()

    def __getitem__(self, name):
        return vars(self)[name]


def test_a_rule_passes_on_what_its_stage_reads():
    stage = Stage("work:work", inputs="documents files prompts seed threads processes")
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
    assert union_of({"shade": Plugin("shade", "shades", data)}, "kind")
    with pytest.raises(MacroscopeError, match=r"shades: .*give them kind: Literal\['hue'\]"):
        union_of({"hue": Plugin("hue", "shades", data)}, "kind")
