"""System against system: closed forms, pairing, sizes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from macroscope.options import Resampling
from macroscope.statistics.pairs import (
    FROM_INTERVALS,
    PAIRED,
    RATIO,
    UNLIKE_SIZES,
    UNPAIRED,
    compare_documents,
    compare_intervals,
    mover_difference,
)

FEW = Resampling(200, 400, 0.95, 1)


def scores(rng, n, effect=0.0, of=None, prefix="a"):
    """Scores of documents; `of` is the base of the same documents in another table."""
    base = rng.normal(10, 2, n) if of is None else of
    nll = base + rng.normal(effect, 0.5, n)
    return pd.DataFrame({"id": [f"{prefix}{i}" for i in range(n)], "nll": nll, "units": 5.0}), base


def test_symmetric_intervals_give_the_difference_of_two_normal_estimates():
    z = norm.ppf(0.975)
    value, low, high, p = mover_difference((5, 5 - 3 * z, 5 + 3 * z), (1, 1 - 4 * z, 1 + 4 * z), 0.95)
    assert (value, low, high) == pytest.approx((4, 4 - 5 * z, 4 + 5 * z))
    assert p == pytest.approx(2 * norm.sf(4 / 5))


def test_published_example_of_two_shares():
    """Newcombe (1998), Table II (a): 56/70 against 48/80 by Wilson's intervals, method 10: 0.0524 to 0.3339."""
    from macroscope.statistics.proportions import wilson_interval

    sides = [(k / n, *map(float, wilson_interval(k, n))) for k, n in ((56, 70), (48, 80))]
    value, low, high, _ = mover_difference(*sides, 0.95)
    assert (value, low, high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_ratio_of_perplexities_is_that_of_pooled_sums():
    rng = np.random.default_rng(0)
    (first, _), (second, _) = scores(rng, 40, prefix="a"), scores(rng, 60, prefix="b")
    row = compare_documents(first, second, FEW).set_index("statistic").loc["latent_ppl"]
    expected = [np.exp(table["nll"].sum() / table["units"].sum()) for table in (first, second)]
    assert row["value"] == pytest.approx(expected[0] / expected[1])
    assert row["measure"] == RATIO
    assert row["method"] == UNPAIRED
    assert row["ci_low"] < row["value"] < row["ci_high"]


def test_swapped_systems_give_the_inverse():
    rng = np.random.default_rng(1)
    (first, _), (second, _) = scores(rng, 40, prefix="a"), scores(rng, 60, prefix="b")
    forward, backward = (
        compare_documents(*pair, FEW).set_index("statistic") for pair in ((first, second), (second, first))
    )
    assert forward.at["latent_ppl", "value"] == pytest.approx(1 / backward.at["latent_ppl", "value"])
    assert forward.at["latent_nll", "value"] == pytest.approx(-backward.at["latent_nll", "value"])


def rejections(effect, paired, runs):
    rng = np.random.default_rng(2)
    p = []
    for run in range(runs):
        first, base = scores(rng, 30)
        second, _ = scores(rng, 30, effect, of=base, prefix="a" if paired else "b")
        table = compare_documents(second, first, Resampling(100, 199, 0.95, run)).set_index("statistic")
        assert table.at["latent_nll", "method"] == (PAIRED if paired else UNPAIRED)
        p.append(table.at["latent_nll", "p_value"])
    return np.mean(np.array(p) <= 0.05)


@pytest.mark.slow
def test_pairs_keep_their_level_and_have_more_power_than_unpaired_documents():
    assert rejections(0.0, True, 400) <= 0.08
    power_unpaired, power_paired = rejections(0.4, False, 100), rejections(0.4, True, 100)
    assert power_paired > 0.7
    assert power_unpaired < 0.3


def statistics_of(n, values):
    rows = [(name, value, value - 0.1, value + 0.1, n) for name, value in values.items()]
    return pd.DataFrame(rows, columns=["statistic", "value", "ci_low", "ci_high", "n_candidate"])


def test_sized_statistics_are_undefined_for_different_numbers_of_documents():
    values = {"vocabulary_size": 3.0, "length_mean": 2.0}
    table = compare_intervals(
        statistics_of(40, values), statistics_of(80, values), 0.95, lambda name: name == "vocabulary_size"
    )
    rows = table.set_index("statistic")
    assert np.isnan(rows.at["vocabulary_size", "value"])
    assert rows.at["vocabulary_size", "reason"] == UNLIKE_SIZES
    assert rows.at["length_mean", "value"] == 0
    assert rows.at["length_mean", "method"] == FROM_INTERVALS
    same = compare_intervals(statistics_of(40, values), statistics_of(40, values), 0.95, lambda name: True)
    assert same["value"].notna().all()


def test_statistics_of_one_system_only_are_left_out():
    table = compare_intervals(statistics_of(40, {"a": 1.0}), statistics_of(40, {"b": 1.0}), 0.95, lambda name: False)
    assert table.empty


def test_a_share_of_few_documents_stays_a_share():
    rng = np.random.default_rng(3)
    (first, _), (second, _) = scores(rng, 60, prefix="a"), scores(rng, 8, prefix="b")
    first["count_error"], first["of_error"] = rng.integers(0, 2, 60).astype(float), 1.0
    second["count_error"], second["of_error"] = [1.0] + 7 * [0.0], [3.0] + 7 * [0.0]
    row = compare_documents(first, second, FEW).set_index("statistic").loc["error_share"]
    assert -1 <= row["ci_low"] <= row["value"] <= row["ci_high"] <= 1
