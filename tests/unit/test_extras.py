"""Extras of the installation that are missing."""

import re

import pytest

from macroscope import extras
from macroscope.criticize.choice import choose
from macroscope.criticize.profile import Profile
from macroscope.errors import MacroscopeError
from macroscope.extras import extra_with, missing_extras
from macroscope.plan import Plan
from tests.unit.test_config import changed, parse_config


@pytest.fixture(autouse=True)
def without_models(monkeypatch):
    """Let the packages of models be absent."""
    extras.is_installed.cache_clear()
    monkeypatch.setattr(extras, "find_spec", lambda package: package not in extras.EXTRAS["models"])
    yield
    extras.is_installed.cache_clear()


def test_extras_under_their_condition():
    class Options:
        estimator = "lstm"

    assert missing_extras({"models": ""}, Options) == ["models"]
    assert missing_extras({"models": "estimator=lstm"}, Options) == ["models"]
    assert missing_extras({"models": "estimator=ngram", "languages": ""}, Options) == []
    assert (extra_with("torch"), extra_with("tomotopy"), extra_with("numpy")) == ("models", "languages", None)


@pytest.fixture
def texts():
    splits = {"train": 180, "valid": 30, "test": 90}
    words = {f"word{number}": 30 for number in range(20)}
    counts = {"titled": 300, "with_persons": 300, "narratives": 300, "frequencies": words, "occurs_in": words}
    return Profile("texts", words=[9] * 300, splits=splits, **counts)


def test_the_profile_leaves_out_critics_whose_packages_are_missing(texts):
    choice = choose(texts, [texts], [])
    assert {"tendencies", "strings", "coreference"} == set(choice.critics)
    (reason,) = choice.reasons
    assert "The critics 'clusters', 'coherence', 'narrative', 'topics' are left out, each" in reason
    assert reason.endswith("pip install 'macroscope-text[models]' adds it.")


def test_a_critic_that_is_asked_for_and_lacks_packages(texts):
    with pytest.raises(MacroscopeError, match=re.escape("⟨critic=topics⟩: it needs the extra 'models', which is not")):
        choose(texts, [texts], ["tendencies", "topics"])


def test_a_config_that_needs_them():
    strings = {"corpus": "wiki", "systems": ["kneser-ney"], "critics": ["strings"]}
    Plan(parse_config(changed(comparisons=[strings]))).require_extras()
    needing = {"corpus": "wiki", "systems": ["lm-titles"], "critics": ["coherence"]}
    plan = Plan(parse_config(changed(comparisons=[needing])))
    sentence = "the extra 'models' is not installed, and the config needs it for the critic 'coherence', the system 'lm"
    with pytest.raises(MacroscopeError, match=re.escape(sentence)):
        plan.require_extras()
