"""The headline: perplexities of discrete latents, NLL of densities."""

import numpy as np
import pandas as pd
import pytest

from macroscope.reporting.headline import SETTING, _prior_columns, display_headline, latent_measure


def statistics(ppl, ratio):
    """Return statistics of one system: a latent PPL and its ratio to real text, each with an interval of 10 %."""
    rows = [("latent_ppl", ppl), ("latent_ppl_ratio", ratio), ("latent_ppl_minimum_detectable", 1.2)]
    table = pd.DataFrame(rows, columns=["statistic", "value"]).assign(p_adjusted=0.03)
    return table.assign(ci_low=0.9 * table["value"], ci_high=1.1 * table["value"]).set_index("statistic")


def shown(critic, ppl, ratio):
    numbers = _prior_columns(pd.concat({critic: statistics(ppl, ratio)}), (critic,), "")
    row = {
        "system": "lm",
        "kind": "language_model",
        "setting": "",
        "decoding": "",
        "corpus": "c",
        "n": 10,
        "n_paired": 0,
        "word_ppl": np.nan,
    }
    headline = pd.DataFrame([row | {f"{critic}_usable": True} | numbers])
    return numbers, display_headline(headline).iloc[0]


def test_states_have_a_perplexity_and_a_ratio():
    numbers, row = shown("coherence", 5.0, 1.5)
    assert numbers["coherence_latent_ppl"] == 5.0
    assert row["Latent PPL (coherence)"] == "5.00 [4.50, 5.50]"
    assert row["× real text (coherence)"] == "1.50 [1.35, 1.65]"


def test_a_density_has_an_nll_and_a_difference():
    numbers, row = shown("languages", 1e-88, 1e20)
    assert numbers["languages_latent_nll"] == pytest.approx(-88 * np.log(10))
    assert numbers["languages_difference_low"] == pytest.approx(20 * np.log(10) + np.log(0.9))
    assert row["Latent NLL per dimension (languages)"] == "-203 [-203, -203]"
    assert "Latent PPL (languages)" not in row
    assert row["− detectable (languages)"] == "0.182"


@pytest.mark.parametrize(
    ("kind", "setting", "decoding", "shown"),
    [
        ("files", "files", "", "your texts"),
        ("control", "control", "", "real text"),
        ("language_model", "W/ Title", "ancestral", "W/ Title"),
        ("language_model", "", "nucleus p=0.9", "nucleus p=0.9"),
        ("language_model", "", "ancestral", "language model"),
    ],
)
def test_what_a_system_is_in_the_readers_words(kind, setting, decoding, shown):
    row = {"system": "x", "corpus": "c", "n": 10, "n_paired": 0, "word_ppl": np.nan}
    headline = pd.DataFrame([row | {"kind": kind, "setting": setting, "decoding": decoding}])
    assert display_headline(headline)[SETTING].tolist() == [shown]


def test_every_critic_with_a_prior_has_a_measure():
    assert latent_measure("topics").name == "latent_nll"
    assert latent_measure("coherence").name == "latent_ppl"
