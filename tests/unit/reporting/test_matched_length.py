"""Comparisons at matched length: columns of the scorecard, and sentences."""

import pandas as pd
import pytest

from macroscope.gaps import UNMATCHED, Gap
from macroscope.reporting.matched_length import COLUMNS, describe_lengths, matched_columns


def estimate(value, low, high, verdict):
    return {"verdict": verdict, "value": value, "ci_low": low, "ci_high": high, "p_value": 0.5, "smallest": 0.6} | {
        "n_reference": 90, "n_candidate": 80, "tests": 2, "different": 1, "explanation": ""
    }  # fmt: skip


def test_what_length_explains_is_the_difference_with_an_interval():
    columns = matched_columns(
        estimate(0.9, 0.86, 0.93, "unlike"), estimate(0.55, 0.51, 0.59, "like real text"), confidence=0.95
    )
    assert columns["explained"] == pytest.approx(0.35)
    assert columns["explained_low"] == pytest.approx(0.35 - (0.04**2 + 0.04**2) ** 0.5)
    assert (columns["matched_verdict"], columns["matched_c2st_auc"]) == ("like real text", 0.55)


def test_sentences_name_what_was_cut_and_which_critics_cannot_match():
    cuts = {"system_texts": 80, "system_texts_cut": 8, "system_words": 1000, "system_words_cut": 10}
    cuts |= {"real_texts": 90, "real_texts_cut": 81, "real_words": 2000, "real_words_cut": 600}
    lengths = {"length": 0.8, "length_low": 0.7, "length_high": 0.9}
    lengths |= {f"matched_{name}": value - 0.3 for name, value in lengths.items()}
    table = pd.DataFrame([{"corpus": "wiki", "system": "mine", **cuts, **lengths}], columns=list(COLUMNS))
    cell = matched_columns(
        estimate(0.9, 0.86, 0.93, "unlike"), estimate(0.55, 0.51, 0.59, "like real text"), confidence=0.95
    )
    scorecard = pd.DataFrame([{"corpus": "wiki", "system": "mine", "critic": "topics", "c2st_auc": 0.9, **cell}])
    uncut = Gap(kind=UNMATCHED, corpus="wiki", critic="synthetic", explanation="it has none")
    assert describe_lengths(table, scorecard, [uncut]) == [
        "mine: by the number of words alone, detectability is 80 % [70, 90], at matched length 50 % [40, 60]. For that,"
        " 81 of 90 real texts and 8 of 80 of the system's texts are cut: 30 % and 1 % of their words. Length explains,"
        " by critic: topics 35 points [29, 40], from 90 to 55 %.",
        "The critic 'synthetic' does not compare texts at matched length: it has none.",
    ]
