"""Verdicts on pairs of systems."""

import pandas as pd
import pytest

from macroscope.reporting.pairs import Pair, closer_systems, display_pair, pairs_of, with_adjusted_p_values
from macroscope.reporting.scorecard import build_scorecards

RATIO = ("coherence", "latent_ppl", "ratio", 0.426, 0.26, 0.7, 0.001, 0.0033)
ABOVE, BELOW, EITHER_SIDE = ({"one": first, "other": second} for first, second in ((3, 7), (0.2, 0.5), (0.7, 1.7)))


def pair(*rows):
    columns = ["critic", "statistic", "measure", "value", "ci_low", "ci_high", "p_value", "p_adjusted"]
    return Pair("c", "one", "other", pd.DataFrame(rows, columns=columns))


def difference(low, high):
    p = 0.01 if low > 0 or high < 0 else 0.5
    return ("coherence", "c2st_auc", "difference", (low + high) / 2, low, high, p / 2, p)


def compare(*rows, ratios=ABOVE, critic="coherence"):
    return pair(*rows).compare(critic, ratios)


def numbers(verdict):
    return [number.text for number in verdict.numbers]


def test_the_closer_system_has_the_lower_detectability():
    assert compare(difference(-0.3, -0.1)).verdict == "one closer"
    assert compare(difference(0.1, 0.3)).verdict == "other closer"
    assert compare(difference(-0.1, 0.2)).verdict == "no difference detected"
    assert not compare(difference(-0.1, 0.2)).is_different
    assert compare(difference(-0.1, 0.2), critic="topics") is None


def test_numbers_are_those_of_the_closer_system():
    assert numbers(compare(difference(-0.3, -0.1))) == ["detectability 20 points lower [10, 30], adjusted p 0.01"]
    assert numbers(compare(difference(0.1, 0.3))) == ["detectability 20 points lower [10, 30], adjusted p 0.01"]
    assert numbers(compare(difference(-0.1, 0.2))) == ["detectability 5 points higher [-10, 20], adjusted p 0.5"]
    assert compare(difference(0.1, 0.3)).numbers[0].explanation.startswith("other, compared with one; p is adjusted")
    assert compare(difference(-0.1, 0.2)).numbers[0].explanation.startswith("one, compared with other; p is adjusted")


def test_numbers_that_round_to_nothing_have_no_minus():
    (text,) = numbers(compare(difference(-0.004, 0.003)))
    assert "equal: 0 points [0, 0]" in text


def test_systems_at_the_ceiling_are_compared_by_their_structure():
    """Systems that are both always told from real text may still differ."""
    verdict = compare(difference(-0.02, 0.02), RATIO)
    assert (verdict.system, verdict.verdict) == ("one", "one closer")
    assert numbers(verdict)[0] == "latent PPL 0.426 times [0.260, 0.700], adjusted p 0.0033"
    assert verdict.numbers[0].explanation.startswith("one over other; p is adjusted")
    assert compare(difference(-0.02, 0.02), (*RATIO[:-1], 0.3)).verdict == "no difference detected"
    assert compare(difference(-0.02, 0.02), ("clusters", *RATIO[1:])).verdict == "no difference detected"


def test_below_real_text_the_larger_latent_ppl_is_closer():
    verdict = compare(difference(-0.02, 0.02), RATIO, ratios=BELOW)
    assert verdict.verdict == "other closer"
    assert numbers(verdict)[0] == "latent PPL 2.35 times [1.43, 3.85], adjusted p 0.0033"


@pytest.mark.parametrize("ratios", [EITHER_SIDE, {}, {"one": 3.0, "other": float("nan")}])
def test_on_either_side_of_real_text_neither_is_closer(ratios):
    verdict = compare(difference(-0.02, 0.02), RATIO, ratios=ratios)
    assert (verdict.system, verdict.verdict) == ("", "different structure, neither shown to be closer")
    assert verdict.is_different


def test_neither_is_closer_if_detectability_and_structure_contradict():
    assert compare(difference(-0.3, -0.1), RATIO).verdict == "one closer"
    assert compare(difference(-0.3, -0.1), RATIO, ratios=EITHER_SIDE).verdict == "one closer"
    verdict = compare(difference(-0.3, -0.1), RATIO, ratios=BELOW)
    assert (verdict.system, verdict.verdict) == (
        "",
        "contradictory: one closer by detectability, the other by structure",
    )


def test_systems_may_differ_from_each_other_alone():
    each_other = ("coherence", "c2st_auc_between_systems", "auc", 0.8, 0.7, 0.9, 0.001, 0.002)
    verdict = compare(difference(-0.1, 0.1), each_other)
    assert (verdict.system, verdict.verdict) == ("", "different, neither shown to be closer")
    assert numbers(verdict)[0] == "distinguishable from each other in 80 % of pairs [70, 90], adjusted p 0.002"
    assert compare(difference(-0.1, 0.1), (*each_other[:-1], 0.06)).verdict == "no difference detected"
    below = (*each_other[:3], 0.2, 0.1, 0.3, *each_other[6:])
    assert compare(difference(-0.1, 0.1), below).verdict == "no difference detected"


def test_perplexities_of_a_density_are_shown_as_logarithms():
    """A ratio of e^-72.2 would be unreadable."""
    ratio = ("languages", "latent_ppl", "ratio", 4.61e-32, 7.38e-37, 5.99e-27, 0.001, 0.0033)
    verdict = compare(("languages", *difference(-0.2, -0.1)[1:]), ratio, critic="languages")
    assert numbers(verdict)[1] == "latent NLL per dimension -72.2 [-83.2, -60.4], adjusted p 0.0033"


def test_closer_systems_are_those_of_any_critic():
    cells = pd.DataFrame({"corpus": "c", "system": ["one", "other"], "critic": "coherence", "verdict": "unlike"})
    ratios = cells.assign(latent_ppl_ratio=[3.0, 7.0], c2st_auc=1.0, check=False, warned=False)
    (scorecard,) = build_scorecards(ratios)
    pairs = [pair(difference(-0.02, 0.02), RATIO)]
    assert closer_systems("other", pairs, scorecard) == {"one"}
    assert closer_systems("one", pairs, scorecard) == set()


def test_card_and_page_decide_by_the_same_adjusted_p():
    """Beside five pairs that do not differ, p = .026 is not significant, and the card says so."""
    pairs = ["other", *(f"other{number}" for number in range(5))]
    difference, between = (
        pd.DataFrame(
            {
                **{"corpus": "c", "critic": "tendencies", "system": "one", "other": pairs},
                **{"statistic": statistic, "measure": measure, "value": 0.55, "ci_low": 0.5, "ci_high": 0.6},
                **{"p_value": [p, *[0.6] * 5], "n_system": 9, "n_other": 9, "method": "", "reason": ""},
            }
        )
        for statistic, measure, p in (("c2st_auc", "difference", 0.026), ("c2st_auc_between_systems", "auc", 0.5))
    )
    table = pd.concat([between, difference], ignore_index=True)
    for rows, decided in ((difference[:1], "other closer"), (table, "no difference detected")):
        adjusted = with_adjusted_p_values(rows)
        assert adjusted["p_adjusted"].notna().all()
        (first,) = [each for each in pairs_of(adjusted, "c") if each.second == "other"]
        shown = display_pair(first)["p, adjusted"].iloc[-1]
        verdict = first.compare("tendencies", {})
        assert verdict.verdict == decided
        assert (float(shown) < 0.05) == verdict.is_different
        assert numbers(verdict)[-1].endswith(f", adjusted p {shown}")
