"""In which respects a system differs: the order in which a reader is told."""

import numpy as np
import pandas as pd
import pytest

from macroscope.reporting.differences import in_words, surest_differences


def row(system, statistic, value, low, high, p=np.nan):
    about = {"corpus": "c", "system": system, "critic": "tendencies", "statistic": statistic, "value": value}
    return about | {"ci_low": low, "ci_high": high, "p_value": p, "p_adjusted": p, "n_reference": 50, "n_candidate": 50}


def test_smaller_p_values_come_first_and_what_has_no_counterpart_last():
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
    found = surest_differences(statistics, "tendencies", "c", "mine")
    assert [some.statistic for some in found] == ["longest_repeat_mean", "length_mean", "tvd_half_l1"]
    assert found[0].name == "longest repeat (tokens), mean"
    assert found[2].real == ""
    assert in_words(found[0]) == "longest repeat (tokens), mean 7.00, below real text's 7.50"
    assert in_words(found[2]).endswith(" 0.300")


def test_a_divergence_is_held_against_that_of_halves_of_real_text():
    rows = [
        row("mine", "tvd_half_l1", 0.3, 0.25, 0.35, 0.0001),
        row("mine", "tvd_half_l1_at_half", 0.4, 0.35, 0.45),
        row("mine", "tvd_half_l1_floor", 0.1, 0.05, 0.15),
    ]
    statistics = pd.DataFrame(rows).assign(signature="", reason=np.nan)
    (found,) = surest_differences(statistics, "tendencies", "c", "mine")
    assert found.halves
    assert in_words(found).endswith("0.400, where halves of real text have 0.100")
    rows[2] = row("mine", "tvd_half_l1_floor", -2e-10, -1e-9, 1e-9)
    (found,) = surest_differences(pd.DataFrame(rows).assign(signature="", reason=np.nan), "tendencies", "c", "mine")
    assert in_words(found).endswith("0.400, where halves of real text have about 0")


@pytest.mark.parametrize(("value", "said"), [(9.1, "less"), (2.5, "more")])
def test_what_the_prior_says_is_told_by_what_it_means(value, said):
    rows = [
        row("mine", "latent_ppl", value, value - 0.1, value + 0.1, 0.001),
        row("control", "latent_ppl", 4.2, 4, 4.4),
    ]
    statistics = pd.DataFrame(rows).assign(critic="coherence", signature="", reason=np.nan)
    (found,) = surest_differences(statistics, "coherence", "c", "mine")
    assert in_words(found) == f"{said} expected than real text: latent PPL {found.value.partition(' [')[0]}, not 4.20"
