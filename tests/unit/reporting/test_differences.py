"""Differences of a system: their order and description."""

import numpy as np
import pandas as pd
import pytest

from macroscope.reporting.differences import describe_difference, find_differences


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


def test_differences_are_sorted_by_p_value_with_joint_statistics_last():
    rows = [
        row("mine", "length_mean", 200.0, 190, 210),
        row("control", "length_mean", 300.0, 290, 310),
        row("mine", "length_mean_difference", -100.0, -115, -85, 0.02),
        row("mine", "longest_repeat_mean", 7.0, 6.9, 7.1),
        row("control", "longest_repeat_mean", 7.5, 7.4, 7.6),
        row("mine", "longest_repeat_mean_difference", -0.5, -0.6, -0.4, 0.001),
        row("mine", "tvd_half_l1", 0.3, 0.25, 0.35, 0.0001),
        row("mine", "symbol_share_mean", 0.1, 0.05, 0.15),
        row("mine", "symbol_share_mean_difference", 0.0, -0.1, 0.1, 0.9),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    differences = find_differences(statistics, "tendencies", "c", "mine")
    assert [difference.statistic for difference in differences] == ["longest_repeat_mean", "length_mean", "tvd_half_l1"]
    assert differences[0].name == "longest repeat (tokens), mean"
    assert differences[2].real == ""
    assert describe_difference(differences[0]) == "longest repeat (tokens), mean 7.00, below real text's 7.50"
    assert describe_difference(differences[2]).endswith(" 0.300")


def test_a_divergence_is_compared_with_that_of_halves_of_real_text():
    rows = [
        row("mine", "tvd_half_l1", 0.3, 0.25, 0.35, 0.0001),
        row("mine", "tvd_half_l1_at_half", 0.4, 0.35, 0.45),
        row("mine", "tvd_half_l1_floor", 0.1, 0.05, 0.15),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "tendencies", "c", "mine")
    assert difference.halves
    assert describe_difference(difference).endswith("0.400, against 0.100 between halves of real text")
    rows[2] = row("mine", "tvd_half_l1_floor", -2e-10, -1e-9, 1e-9)
    (difference,) = find_differences(pd.DataFrame(rows).assign(signature="", reason=np.nan), "tendencies", "c", "mine")
    assert describe_difference(difference).endswith("0.400, against about 0 between halves of real text")


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
    ("value", "reading"),
    [
        (0.02, "below real text's 0.0500 (more uniform or repetitive than real text, not more coherent)"),
        (0.2, "above real text's 0.0500 (less coherent than real text)"),
    ],
)
def test_a_critic_says_what_each_direction_means(value, reading):
    rows = [
        row("mine", "discordant_share", value, value - 0.01, value + 0.01, 0.001),
        row("control", "discordant_share", 0.05, 0.04, 0.06),
    ]
    statistics = pd.DataFrame(rows).assign(critic="narrative", signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "narrative", "c", "mine")
    assert describe_difference(difference).endswith(reading)


@pytest.mark.parametrize(("value", "direction"), [(9.1, "less"), (2.5, "more")])
def test_likelihoods_under_the_prior_are_described_in_words(value, direction):
    rows = [
        row("mine", "latent_ppl", value, value - 0.1, value + 0.1, 0.001),
        row("control", "latent_ppl", 4.2, 4, 4.4),
    ]
    statistics = pd.DataFrame(rows).assign(critic="coherence", signature="", reason=np.nan)
    (difference,) = find_differences(statistics, "coherence", "c", "mine")
    assert (
        describe_difference(difference)
        == f"{direction} likely than real text: latent PPL {difference.value.partition(' [')[0]}, not 4.20"
    )
