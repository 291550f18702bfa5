"""Readable names of statistics."""

import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import statistics_of
from macroscope.reporting.statistic_names import readable_name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("latent_ppl", "latent PPL"),
        ("latent_ppl_gold", "latent PPL, gold"),
        ("reference_latent_ppl", "latent PPL of real text"),
        ("repeats_mean", "repeated words, mean"),
        ("repeats_mean_difference", "repeated words: difference of means"),
        ("repeats_ks", "distribution of repeated words (Kolmogorov–Smirnov D)"),
        ("jensen_shannon_corrected", "Jensen–Shannon divergence, corrected for small-sample bias"),
        ("empty_share", "share of empty"),
        ("never_heard_of", "never heard of"),
        ("_mean", " mean"),
    ],
)
def test_a_name_in_words(name, words):
    assert readable_name(name, {"repeats": "repeated words"}) == words


def test_a_critics_own_names_take_precedence():
    assert readable_name("mauve", {"mauve": "a colour"}) == "a colour"
    assert readable_name("mauve_share", {"mauve": "a colour", "mauve_share": "how much of it"}) == "how much of it"


@pytest.mark.parametrize("critic", critics())
def test_no_declared_statistic_is_shown_by_its_internal_name(critic):
    plugin = critics()[critic]
    for statistic in statistics_of(plugin):
        if "*" not in statistic.pattern:
            assert "_" not in readable_name(statistic.pattern, plugin.data.quantities)
