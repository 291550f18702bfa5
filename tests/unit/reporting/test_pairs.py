"""What the report says of two systems."""

import pandas as pd

from macroscope.reporting.pairs import Pair


def pair(*rows):
    columns = ["critic", "statistic", "measure", "value", "ci_low", "ci_high", "p_value", "p_adjusted"]
    return Pair("c", "one", "other", pd.DataFrame(rows, columns=columns))


def apart(low, high):
    return ("coherence", "told_apart", "difference", (low + high) / 2, low, high, 0.5, float("nan"))


def test_which_one_is_nearer_and_which_way():
    assert pair(apart(-0.3, -0.1)).nearer("coherence").verdict == "first"
    assert pair(apart(0.1, 0.3)).nearer("coherence").verdict == "second"
    assert pair(apart(-0.1, 0.2)).nearer("coherence").verdict == ""
    assert pair(apart(-0.1, 0.2)).nearer("topics") is None


def test_numbers_that_round_to_nothing_have_no_minus():
    assert pair(apart(-0.004, 0.003)).nearer("coherence").text == "+0 [+0, +0]"


def test_systems_at_the_ceiling_differ_by_their_structure():
    """Both are told from real text without fail: the picture does not say that they are alike."""
    ratio = ("coherence", "latent_ppl", "ratio", 0.426, 0.26, 0.7, 0.001, 0.0033)
    found = pair(apart(-0.02, 0.02), ratio).nearer("coherence")
    assert found.verdict == ""
    assert found.structure == "latent PPL ×0.426 [0.260, 0.700], p 0.0033"
    assert pair(apart(-0.02, 0.02), (*ratio[:-1], 0.3)).nearer("coherence").structure == ""
    assert pair(apart(-0.02, 0.02), ("clusters", *ratio[1:])).nearer("coherence").structure == ""


def test_perplexities_of_a_density_are_shown_as_logarithms():
    """e^-72.2 as often as likely says nothing to anybody."""
    ratio = ("languages", "latent_ppl", "ratio", 4.61e-32, 7.38e-37, 5.99e-27, 0.001, 0.0033)
    row = pair(("languages", *apart(-0.2, -0.1)[1:]), ratio)
    assert row.nearer("languages").structure == "latent NLL -72.2 [-83.2, -60.4], p 0.0033"
