"""Differences of a system: their order and description."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from macroscope.critics import critics, get_critic
from macroscope.critics.declaration import statistics_of
from macroscope.critics.readings import SHARED_READINGS
from macroscope.reporting.differences import describe_difference, find_differences, judge_difference
from macroscope.statistics.declaration import match_declaration


def row(system, statistic, value, low, high, p=np.nan):
    about = {"corpus": "c", "system": system, "critic": "tendencies", "statistic": statistic, "value": value}
    return about | {
        "ci_low": low,
        "ci_high": high,
        "p_value": p,
        "p_adjusted": p,
        "n_reference": 50,
        "n_candidate": 50,
        "n_paired": 0,
    }


def test_differences_in_words_come_first_and_the_clearest_before_others():
    rows = [
        row("mine", "length_mean", 200.0, 190, 210),
        row("control", "length_mean", 300.0, 290, 310),
        row("mine", "length_mean_difference", -100.0, -115, -85, 0.001),
        row("mine", "longest_repeat_mean", 7.0, 6.9, 7.1),
        row("control", "longest_repeat_mean", 7.5, 7.4, 7.6),
        row("mine", "longest_repeat_mean_difference", -0.5, -0.6, -0.4, 0.02),
        row("mine", "tvd_half_l1", 0.3, 0.25, 0.35, 0.0001),
        row("mine", "c2st_auc", 0.9, 0.85, 0.95, 0.0001),
        row("mine", "symbol_share_mean", 0.1, 0.05, 0.15),
        row("mine", "symbol_share_mean_difference", 0.0, -0.1, 0.1, 0.9),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    differences = find_differences(statistics, "tendencies", "c", "mine")
    assert [difference.statistic for difference in differences] == ["length_mean", "longest_repeat_mean", "tvd_half_l1"]
    assert differences[0].name == "length (tokens), mean"
    assert differences[2].real == ""
    assert describe_difference(differences[0]) == "are shorter, 200 against 300 tokens"
    assert describe_difference(differences[2]) == "differ in total variation of word shares, 0.300"


@pytest.mark.parametrize("half", [-10.0, np.nan])
def test_a_difference_of_vocabularies_shows_both_at_equal_lengths(half):
    rows = [
        row("mine", "vocabulary_size_difference", -300.0, -400, -200, 0.001),
        row("mine", "vocabulary_size_compared", 1700.0, 1600, 1800),
        row("split_half", "vocabulary_size_difference", half, half - 90, half + 90),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "tendencies", "c", "mine")
    assert difference.exceeds_halves
    assert describe_difference(difference).endswith(
        "fewer different words, 1,700 against 2,000 in samples of equal length"
    )
    assert judge_difference(difference) == "for the worse"


def test_a_divergence_is_compared_with_that_of_halves_of_real_text():
    rows = [
        row("mine", "tvd_half_l1", 0.3, 0.25, 0.35, 0.0001),
        row("mine", "tvd_half_l1_at_half", 0.4, 0.35, 0.45),
        row("mine", "tvd_half_l1_floor", 0.1, 0.05, 0.15),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "tendencies", "c", "mine")
    assert difference.halves
    assert describe_difference(difference).endswith("0.400 against 0.100 between halves of real text")
    rows[2] = row("mine", "tvd_half_l1_floor", -2e-10, -1e-9, 1e-9)
    (difference,) = find_differences(pd.DataFrame(rows).assign(signature="", reason=np.nan), "tendencies", "c", "mine")
    assert describe_difference(difference).endswith("0.400 against about 0 between halves of real text")


@pytest.mark.parametrize(("at_half", "exceeds"), [(0.175, False), (0.19, False), (0.25, True)])
def test_a_difference_within_the_band_of_real_halves_is_marked(at_half, exceeds):
    rows = [
        row("mine", "tvd_half_l1", 0.3, 0.25, 0.35, 0.0001),
        row("mine", "tvd_half_l1_at_half", at_half, 0.15, 0.3),
        row("mine", "tvd_half_l1_floor", 0.176, 0.15, 0.2),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "tendencies", "c", "mine")
    assert difference.exceeds_halves == exceeds


@pytest.mark.parametrize(
    ("value", "words", "judged"),
    [
        (
            0.02,
            "fewer sentences that seem out of place, as uniform or repetitive texts do, 2.0 %",
            "neither better nor worse",
        ),
        (0.2, "more sentences that seem out of place, 20.0 %", "for the worse"),
    ],
)
def test_a_critic_says_what_each_direction_means(value, words, judged):
    rows = [
        row("mine", "discordant_share", value, value - 0.01, value + 0.01, 0.001),
        row("control", "discordant_share", 0.05, 0.04, 0.06),
    ]
    statistics = pd.DataFrame(rows).assign(critic="narrative", signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "narrative", "c", "mine")
    assert describe_difference(difference) == f"have {words} against 5.0 %"
    assert judge_difference(difference) == judged


@pytest.mark.parametrize(
    ("value", "words", "judged"),
    [
        (9.1, "less usual in the order of sections, latent PPL 9.1", "for the worse"),
        (2.5, "more predictable in the order of sections, latent PPL 2.5", "neither better nor worse"),
    ],
)
def test_likelihoods_under_the_prior_are_described_in_words(value, words, judged):
    rows = [
        row("mine", "latent_ppl", value, value - 0.1, value + 0.1, 0.001),
        row("control", "latent_ppl", 4.2, 4, 4.4),
    ]
    statistics = pd.DataFrame(rows).assign(critic="coherence", signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "coherence", "c", "mine")
    assert describe_difference(difference) == f"are {words} against 4.2"
    assert judge_difference(difference) == judged


@pytest.mark.parametrize("critic", critics())
def test_every_reading_is_of_a_declared_statistic_and_reads_as_a_predicate(critic):
    plugin = critics()[critic]
    for name, reading in plugin.data.readings.items():
        tested = f"{name}_difference" if name.endswith("_mean") else name
        assert match_declaration(statistics_of(plugin), tested).null, name
        for is_above in (True, False):
            first = reading.describe(is_above, 0.2, 0.1).split()[0]
            assert first in {
                "are",
                "have",
                "use",
                "repeat",
                "mention",
                "rely",
                "share",
                "cover",
                "confuse",
                "change",
                "mix",
            } | {"can"}, name


def test_numbers_of_a_plug_in_without_words_read_well():
    rows = [
        row("mine", "questions_mean", 0.2, 0.19, 0.21),
        row("control", "questions_mean", 0.1, 0.09, 0.11),
        row("mine", "questions_mean_difference", 0.1, 0.08, 0.12, 0.001),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    declared = get_critic("tendencies")
    plugin = replace(
        declared, data=replace(declared.data, statistics=("macroscope.critics.numeric_latents:STATISTICS",))
    )
    with patch("macroscope.reporting.differences.get_critic", return_value=plugin):
        (difference,) = find_differences(statistics, "tendencies", "c", "mine")
    assert describe_difference(difference) == "differ in questions, 0.200 against 0.100"
    assert judge_difference(difference) == ""


def test_a_difference_in_latent_nll_is_told_as_a_factor_of_probability():
    reading = SHARED_READINGS["latent_nll"].naming("their topics")
    assert reading.describe(True, 3.0, 1.0) == (
        "are less usual in their topics, by a factor of 7.39 in probability (latent NLL 3 against 1 nats)"
    )
    assert "by a factor of 7.39" in reading.describe(False, 1.0, 3.0)
