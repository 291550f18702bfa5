"""The page of sensitivity: every damage and number is readable in its figures; pairs of a text and its damaged copy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from macroscope.critics.attributions import Attribution, write_attributions
from macroscope.reporting.sensitivity import (
    SCORE,
    PairAccuracy,
    compare_pairs,
    measure_pair_accuracy,
    plot_curves,
    plot_heat_map,
    read_numbers,
)
from macroscope.reporting.sensitivity_summary import tabulate_n80

from .test_sensitivity_summary import POWERS


@pytest.mark.slow
def test_the_heat_map_has_the_numbers_and_the_curves_a_panel_per_damage(tmp_path):
    plot_heat_map(tabulate_n80(POWERS), ["strings"], [0.1, 0.25], tmp_path / "n80")
    plot_curves(POWERS, "strings", tmp_path / "curves")
    heat_map, curves = ((tmp_path / f"{name}.svg").read_text() for name in ("n80", "curves"))
    for text in ("shuffle words", "drop words", "replace synonyms", "45", "–", "25%"):
        assert f">{text}<" in heat_map
    for text in ("shuffle words", "drop words", "replace synonyms", "(harmless)"):
        assert text in curves
    assert "100 per side" in curves


IDS = [f"text-{n}" for n in range(12)]


def written(path, ids, scores):
    """Write attributions of these ids; return their file."""
    write_attributions(map(Attribution, ids, scores), path)
    return path


def test_texts_are_paired_with_the_real_texts_of_their_ids(tmp_path):
    numbers = np.arange(12.0)
    # In another order: eight larger, two equal, one smaller, one not judged; and a text without a real one.
    steps = np.array([1.0] * 8 + [0.0, 0.0, -1.0, np.nan])
    real = read_numbers(written(tmp_path / "real.parquet", IDS, numbers), None)
    ids, values = [*IDS, "new"][::-1], [*(numbers + steps), 99.0][::-1]
    damaged = read_numbers(written(tmp_path / "damaged.parquet", ids, values), None)
    accuracy = compare_pairs(real, damaged, 0.95)[SCORE]
    assert (accuracy.value, accuracy.n, accuracy.ties) == (9 / 11, 11, 2)


def test_each_further_number_has_an_accuracy_of_its_own(tmp_path):
    def numbers(name, places):
        scores = tmp_path / f"{name}-scores.parquet"
        table = pd.DataFrame({"id": IDS[::-1], "opening": "", "nll": 1.0, "units": 1.0, "number_places": places[::-1]})
        table.to_parquet(scores)
        return read_numbers(written(tmp_path / f"{name}.parquet", IDS, np.ones(12)), scores)

    real, damaged = numbers("real", np.arange(12.0)), numbers("damaged", np.arange(12.0) + 1)
    accuracies = compare_pairs(real, damaged, 0.95)
    assert {name: accuracy.value for name, accuracy in accuracies.items()} == {SCORE: 0.5, "places": 1.0}


def test_a_number_that_no_text_has_is_left_out(tmp_path):
    nothing = read_numbers(written(tmp_path / "real.parquet", IDS, np.full(12, np.nan)), None)
    assert compare_pairs(nothing, nothing, 0.95) == {}


def test_a_critic_without_a_prior_has_its_score_alone(tmp_path):
    assert list(read_numbers(written(tmp_path / "real.parquet", IDS, np.ones(12)), None)) == [SCORE]


def test_all_pairs_right_or_wrong():
    """Wilson's interval of n successes of n begins at n / (n + z²), and that of none ends at z² / (n + z²)."""
    intact = np.arange(20.0)
    z2 = norm.ppf(0.95) ** 2
    right, wrong = (measure_pair_accuracy(intact, intact + step, 0.9) for step in (1, -1))
    assert right == PairAccuracy(1.0, pytest.approx(20 / (20 + z2)), 1.0, 20, 0)
    assert wrong == PairAccuracy(0.0, 0.0, pytest.approx(z2 / (20 + z2)), 20, 0)


def test_ties_count_half():
    intact = np.array([1.0, 2, 3, 1e6, np.inf])
    same = measure_pair_accuracy(intact, intact * (1 + 1e-12))
    assert (same.value, same.ties, same.n) == (0.5, 5, 5)
    assert same.low == pytest.approx(1 - same.high)
    mixed = measure_pair_accuracy(intact, [2, 1, 3, 1e6, 5])  # larger, smaller, two ties, smaller
    assert (mixed.value, mixed.ties) == (2 / 5, 2)


def test_a_pair_with_a_text_that_is_not_judged_does_not_count():
    accuracy = measure_pair_accuracy([1, np.nan, 2, 3], [np.inf, 1, np.nan, 2])
    assert (accuracy.value, accuracy.n) == (0.5, 2)
    nothing = measure_pair_accuracy([np.nan], [1.0])
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    assert (nothing.n, nothing.ties) == (0, 0)
