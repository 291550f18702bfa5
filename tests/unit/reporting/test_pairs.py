"""What the report says of two systems."""

import pandas as pd
import pytest

from macroscope.reporting.pairs import Pair, nearer_systems
from macroscope.reporting.scorecard import scorecards

RATIO = ("coherence", "latent_ppl", "ratio", 0.426, 0.26, 0.7, 0.001, 0.0033)
ABOVE, BELOW, EITHER_SIDE = ({"one": one, "other": other} for one, other in ((3, 7), (0.2, 0.5), (0.7, 1.7)))


def pair(*rows):
    columns = ["critic", "statistic", "measure", "value", "ci_low", "ci_high", "p_value", "p_adjusted"]
    return Pair("c", "one", "other", pd.DataFrame(rows, columns=columns))


def apart(low, high):
    return ("coherence", "c2st_auc", "difference", (low + high) / 2, low, high, 0.5, float("nan"))


def nearer(*rows, ratios=ABOVE, critic="coherence"):
    return pair(*rows).nearer(critic, ratios)


def numbers(found):
    return [number.text for number in found.numbers]


def test_which_one_is_nearer_and_which_way():
    assert nearer(apart(-0.3, -0.1)).verdict == "one nearer"
    assert nearer(apart(0.1, 0.3)).verdict == "other nearer"
    assert nearer(apart(-0.1, 0.2)).verdict == "no difference seen"
    assert not nearer(apart(-0.1, 0.2)).is_different
    assert nearer(apart(-0.1, 0.2), critic="topics") is None


def test_numbers_are_those_of_the_nearer_system():
    assert numbers(nearer(apart(-0.3, -0.1))) == ["told from real text 20 points less often [10, 30], p 0.5"]
    assert numbers(nearer(apart(0.1, 0.3))) == ["told from real text 20 points less often [10, 30], p 0.5"]
    assert numbers(nearer(apart(-0.1, 0.2))) == ["told from real text 5 points more often [-10, 20], p 0.5"]
    assert nearer(apart(0.1, 0.3)).numbers[0].about == "other, compared with one"
    assert nearer(apart(-0.1, 0.2)).numbers[0].about == "one, compared with other"


def test_numbers_that_round_to_nothing_have_no_minus():
    (text,) = numbers(nearer(apart(-0.004, 0.003)))
    assert "as often: 0 points [0, 0]" in text


def test_systems_at_the_ceiling_are_compared_by_their_structure():
    """Both are told from real text without fail: the picture does not say that they are alike."""
    found = nearer(apart(-0.02, 0.02), RATIO)
    assert (found.system, found.verdict) == ("one", "one nearer")
    assert numbers(found)[0] == "latent PPL 0.426 times [0.260, 0.700], p 0.0033"
    assert found.numbers[0].about.startswith("one over other; p adjusted")
    assert nearer(apart(-0.02, 0.02), (*RATIO[:-1], 0.3)).verdict == "no difference seen"
    assert nearer(apart(-0.02, 0.02), ("clusters", *RATIO[1:])).verdict == "no difference seen"


def test_below_real_text_the_larger_latent_ppl_is_the_nearer_one():
    found = nearer(apart(-0.02, 0.02), RATIO, ratios=BELOW)
    assert found.verdict == "other nearer"
    assert numbers(found)[0] == "latent PPL 2.35 times [1.43, 3.85], p 0.0033"


@pytest.mark.parametrize("ratios", [EITHER_SIDE, {}, {"one": 3.0, "other": float("nan")}])
def test_on_either_side_of_real_text_none_is_called_nearer(ratios):
    found = nearer(apart(-0.02, 0.02), RATIO, ratios=ratios)
    assert (found.system, found.verdict) == ("", "differ in structure, neither shown to be nearer")
    assert found.is_different


def test_texts_that_contradict_the_structure_call_none_nearer():
    assert nearer(apart(-0.3, -0.1), RATIO).verdict == "one nearer"
    assert nearer(apart(-0.3, -0.1), RATIO, ratios=EITHER_SIDE).verdict == "one nearer"
    found = nearer(apart(-0.3, -0.1), RATIO, ratios=BELOW)
    assert (found.system, found.verdict) == ("", "differ: one nearer by its texts, the other by its structure")


def test_systems_that_differ_from_each_other_alone_are_said_to():
    each_other = ("coherence", "c2st_auc_between_systems", "auc", 0.8, 0.7, 0.9, 0.001, float("nan"))
    found = nearer(apart(-0.1, 0.1), each_other)
    assert (found.system, found.verdict) == ("", "neither shown to be nearer, but different")
    assert numbers(found)[0] == "told from each other in 80 % of pairs [70, 90]"
    assert nearer(apart(-0.1, 0.1), (*each_other[:4], 0.45, *each_other[5:])).verdict == "no difference seen"


def test_perplexities_of_a_density_are_shown_as_logarithms():
    """e^-72.2 as often as likely says nothing to anybody."""
    ratio = ("languages", "latent_ppl", "ratio", 4.61e-32, 7.38e-37, 5.99e-27, 0.001, 0.0033)
    found = nearer(("languages", *apart(-0.2, -0.1)[1:]), ratio, critic="languages")
    assert numbers(found)[1] == "latent NLL a dimension -72.2 [-83.2, -60.4], p 0.0033"


def test_systems_that_any_critic_calls_nearer_are_known():
    cells = pd.DataFrame({"corpus": "c", "system": ["one", "other"], "critic": "coherence", "verdict": "unlike"})
    ratios = cells.assign(latent_ppl_ratio=[3.0, 7.0], c2st_auc=1.0, check=False, warned=False)
    (matrix,) = scorecards(ratios)
    pairs = [pair(apart(-0.02, 0.02), RATIO)]
    assert nearer_systems("other", pairs, matrix) == {"one"}
    assert nearer_systems("one", pairs, matrix) == set()
