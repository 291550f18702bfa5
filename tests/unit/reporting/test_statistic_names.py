"""Names of statistics as people read them."""

import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import statistics_of
from macroscope.reporting.statistic_names import readable


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("latent_ppl", "latent PPL"),
        ("latent_ppl_gold", "latent PPL, gold"),
        ("reference_latent_ppl", "latent PPL of real text"),
        ("repeats_mean", "repeated words, mean"),
        ("repeats_mean_difference", "repeated words: difference of means"),
        ("repeats_ks", "distribution of repeated words (Kolmogorov–Smirnov D)"),
        ("jensen_shannon_corrected", "Jensen–Shannon divergence, without the bias of small samples"),
        ("empty_share", "share of empty"),
        ("never_heard_of", "never heard of"),
        ("_mean", " mean"),
    ],
)
def test_a_name_in_words(name, words):
    assert readable(name, {"repeats": "repeated words"}) == words


def test_what_a_critic_calls_its_own_goes_first():
    assert readable("mauve", {"mauve": "a colour"}) == "a colour"
    assert readable("mauve_share", {"mauve": "a colour", "mauve_share": "how much of it"}) == "how much of it"


@pytest.mark.parametrize("critic", critics())
def test_no_declared_statistic_is_shown_by_its_internal_name(critic):
    found = critics()[critic]
    for statistic in statistics_of(found):
        if "*" not in statistic.pattern:
            assert "_" not in readable(statistic.pattern, found.data.quantities)
