"""The languages that critics can judge, from declarations and encoders."""

from types import SimpleNamespace

import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import Critic
from macroscope.critics.language_fit import FULL, NOT, PARTLY, language_fit
from macroscope.reporting.critic_stages import report_items
from macroscope.stages import Stage


def fit_of(critic, language, **options):
    plugin = critics()[critic]
    return language_fit(plugin.data, plugin.options(**options), language)


@pytest.mark.parametrize("critic", critics())
def test_all_critics_fit_english(critic):
    assert fit_of(critic, "en").level == FULL


@pytest.mark.parametrize(
    ("critic", "language", "level"),
    [
        ("strings", "zh", FULL),
        ("tendencies", "zh", FULL),
        ("tendencies", "ta", PARTLY),
        ("topics", "ta", PARTLY),
        ("coreference", "es", NOT),
        ("clusters", "es", PARTLY),
        ("clusters", "ru", NOT),
        ("narrative", "zh", NOT),
    ],
)
def test_fits(critic, language, level):
    fit = fit_of(critic, language)
    assert fit.level == level
    assert bool(fit.refusals) == (level == NOT)


def test_an_encoder_of_unknown_languages_is_not_blamed():
    assert fit_of("clusters", "zh", encoder="intfloat/multilingual-e5-small").level == FULL
    assert "'minilm' was trained on English, and knows few words of Chinese" in fit_of("clusters", "zh").refusals[0]


def test_declarations_name_capabilities_that_exist():
    stages = {"project": Stage("m:f"), "score": Stage("m:f")}
    with pytest.raises(ValueError, match="unknown capabilities: grammar; choose from coreference resolver"):
        Critic("o:O", stages, language_needs={"grammar": ""})


def test_the_report_warns_about_a_critic_that_fits_in_part(monkeypatch):
    plugin = critics()["tendencies"]
    monkeypatch.setattr("macroscope.critics.tendencies.report.items", lambda findings: [])
    findings = {
        language: SimpleNamespace(critic="tendencies", options=plugin.options(), language=language)
        for language in ("en", "ta")
    }
    assert report_items(findings["en"]) == ([], [])
    ((item,), failures) = report_items(findings["ta"])
    assert not failures
    assert item.warning == "There is no list of stop words for Tamil, so the share of stop words is undefined."
    assert item.is_general
