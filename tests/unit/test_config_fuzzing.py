"""Whatever stands in a config, it is a config or one sentence."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from macroscope.config.schema import Config, parse_config
from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY
from macroscope.plan import Plan

DEFAULT = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
ODD = st.sampled_from(
    [True, None, -1, 0, 10**30, 0.5, float("nan"), float("inf"), "", "x", "{y}", "a\nb", "../z", "é\ud800"]
)
INNER = st.text(max_size=5)
VALUES = st.recursive(
    ODD | st.text(max_size=8), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(INNER, inner, max_size=2)
)
FUZZ = settings(max_examples=150)


def places(value, path=()):
    """Paths of everything in a config."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


PLACES = [path for path in places(DEFAULT) if path]


def changed(path, change):
    """A copy of the default config in which `change` was applied to what holds the last key of the path."""
    config = json.loads(json.dumps(DEFAULT))
    holder = config
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return config


def is_one_sentence(message):
    assert message.strip()
    assert "\n" not in message


def ends_well(config):
    try:
        parsed = parse_config(config)
        assert isinstance(parsed, Config)
        Plan(parsed)
    except MacroscopeError as error:
        is_one_sentence(str(error))


@pytest.mark.slow
@FUZZ
@given(st.sampled_from(PLACES), VALUES)
def test_any_value_in_any_place(path, value):
    ends_well(changed(path, lambda holder, key: holder.__setitem__(key, value)))


@pytest.mark.slow
@FUZZ
@given(st.sampled_from(PLACES), st.text(max_size=6))
def test_any_key_beside_any_other(path, name):
    def add(holder, key):
        if isinstance(holder, dict):
            holder[name] = holder[key]

    ends_well(changed(path, add))


@pytest.mark.slow
@FUZZ
@given(st.sampled_from(PLACES))
def test_any_key_may_be_missing(path):
    ends_well(changed(path, lambda holder, key: holder.pop(key)))


@pytest.mark.slow
@FUZZ
@given(VALUES)
def test_anything_at_all(value):
    ends_well(value)
