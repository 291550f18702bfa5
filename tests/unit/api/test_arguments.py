"""Arguments of the public functions: whatever is given, the caller reads one sentence that names the argument."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import macroscope
from macroscope import MacroscopeError
from macroscope.api.arguments import ChosenCritics, checked, convert

TEXTS = [f"Mill number {n} stood by the river, and nobody had seen the miller since." for n in range(6)]
HOSTILE = [
    *(None, "", 3, -3, 1.5, float("nan"), True, b"x", 1j, 10**30, object(), object, len),
    *(pd.NA, pd.NaT, np.array(3), np.int64(3), np.float64(3), range(3), {"a"}, bytearray(b"x")),
    *(
        [],
        [1, 2],
        [None],
        [["a"], ["b"]],
        ["a", None],
        [b"a"],
        {},
        {"a": 1},
        {"a": {"b": {"c": 1}}},
        {None: ["a", "b"]},
    ),
    *(pd.DataFrame(), pd.DataFrame({"text": [1, 2]}), pd.Series(["a", None])),
    *("a\0b", "\ud800", "a\nb", "x" * 300),
]
ARGUMENTS = [
    "reference candidates critics text_field prompt_field id_field reference_field model_field separator language"
    " matched_length seed n_jobs progress keep nosuch".split(),
    "texts text_field prompt_field id_field separator side nosuch".split(),
    "reference candidates text_field prompt_field id_field reference_field model_field separator nosuch".split(),
    ["folder", "nosuch"],
    ["runs", "critics", "statistics", "nosuch"],
    ["critics", "seed", "n_jobs", "paired", "nosuch"],
]


def call(number: int, **given: Any) -> None:
    if number == 0:
        macroscope.compare(**{"reference": TEXTS, "candidates": TEXTS, "progress": False, **given})
    elif number == 1:
        macroscope.read_texts(**{"texts": TEXTS, **given})
    elif number == 2:
        macroscope.profile(**{"reference": TEXTS, "candidates": TEXTS, **given})
    elif number == 3:
        macroscope.load(**given)
    elif number == 4:
        macroscope.timeline(**{"runs": {}, **given})
    else:
        macroscope.MacroscopeMetric(**given)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name"), [(n, name) for n, names in enumerate(ARGUMENTS) for name in names])
def test_no_value_is_a_traceback(number, name, tmp_path, monkeypatch):
    class Prepared(Exception):
        pass

    def stop(*given, **named):
        raise Prepared

    monkeypatch.setattr("macroscope.api.comparison.run_plan", stop)
    monkeypatch.chdir(tmp_path)
    for value in HOSTILE:
        with suppress(Prepared, MacroscopeError):
            call(number, **{name: value})


@pytest.mark.parametrize(
    ("value", "annotation", "message"),
    [
        ([], str | None, "x: list does not fit; give a string or None"),
        ("", str | None, "x: '' does not fit; give a string or None"),
        (True, int, "x: bool does not fit; give a whole number"),
        ("yes", bool, "x: 'yes' does not fit; give True or False"),
        ("a\0b", str | Path, r"x: 'a\\x00b' does not fit; give a path"),
        ("people", Literal["models"], "x: 'people' does not fit; give 'models'"),
        ("letters", Sequence[str], "x: 'letters' does not fit; give a list of which each is a string"),
        (["a", 1], Iterable[str], r"x\[1\]: int does not fit; give a list of which each is a string"),
        ({"a": 1}, Mapping[str, Mapping[str, Any]], r"x\['a'\]: int does not fit; give a dict"),
        ([["a"]], ChosenCritics, r"x\[0\]: list does not fit; give a string"),
        (3, Callable[[str], str] | None, "x: int does not fit; give a function or None"),
    ],
)
def test_a_value_of_another_type_is_named_with_what_fits(value, annotation, message):
    with pytest.raises(MacroscopeError, match=f"^{message}"):
        convert(value, annotation, "x")


@pytest.mark.parametrize(
    ("value", "annotation", "converted"),
    [
        ((word for word in "ab"), Iterable[str], ["a", "b"]),
        (pd.Series(["a"]), Sequence[str], ["a"]),
        (np.int64(3), int, 3),
        (np.bool_(True), bool, True),
        ("a", ChosenCritics, "a"),
        ({"topics": {"topics": 5}}, ChosenCritics, {"topics": {"topics": 5}}),
    ],
)
def test_a_value_that_fits_is_given_on(value, annotation, converted):
    assert convert(value, annotation, "x") == converted


def test_wrong_names_of_arguments_are_named():
    with pytest.raises(MacroscopeError, match=r"^compare has no argument 'critic'; did you mean 'critics'\?"):
        macroscope.compare(TEXTS, TEXTS, critic="strings")
    with pytest.raises(
        MacroscopeError, match=r"^compare: missing a required argument: 'candidates'; its arguments are"
    ):
        macroscope.compare(TEXTS)


def test_an_error_of_the_system_is_a_sentence():
    @checked
    def write(place: str | Path) -> None:
        Path(place).mkdir()

    with pytest.raises(
        MacroscopeError, match=r"^/proc/x: No such file or directory; repair it, or give another place$"
    ):
        write("/proc/x")
