"""Rates that are corrected by what a detector finds in real text and in known damage."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.comparison import compare, compare_latents, read_counts
from macroscope.critics.narrative.latents import FOUND
from macroscope.statistics.latent import Resampling

from .test_scoring import POINTS, write

RESAMPLING = Resampling(resamples=200, permutations=200)


def counts(rate, stories, seed, slots=6):
    rng = np.random.default_rng(seed)
    found = rng.binomial(slots, rate, stories).astype(float)
    table = {"id": [f"{seed}-{n}" for n in range(stories)], "opening": [""] * stories}
    worst = {"worst_missing": rng.random(stories)}
    return pd.DataFrame(table | {"count_missing": found, "of_missing": np.full(stories, float(slots))} | worst)


def known(share, stories=4000):
    found = np.zeros(stories)
    found[: int(share * stories)] = 1.0
    return {"missing": (found, np.ones(stories))}


def row(table, name):
    return table[table["statistic"] == name].iloc[0]


def test_a_corrected_rate_is_the_share_of_damage_that_is_in_it():
    """Of the system's slots 30 % are gaps, of which 70 % are found; 5 % of the others are found, as in real text."""
    mixed = 0.3 * 0.7 + 0.7 * 0.05
    table = compare(counts(0.05, 6000, 1), counts(mixed, 6000, 2), known(0.7), RESAMPLING).rows
    found = row(table, "missing_corrected")
    assert found["value"] == pytest.approx(0.3, abs=0.015)
    assert found["ci_low"] < 0.3 < found["ci_high"]
    assert found["ci_high"] - found["ci_low"] < 0.04


def test_its_value_is_that_of_the_formula():
    control, system = counts(0.1, 40, 1), counts(0.4, 50, 2)
    table = compare(control, system, known(0.8), RESAMPLING).rows
    c, s = (side["count_missing"].sum() / side["of_missing"].sum() for side in (control, system))
    assert row(table, "missing_corrected")["value"] == pytest.approx((s - c) / (0.8 - c))


def test_a_detector_that_finds_no_damage_says_nothing():
    table = compare(counts(0.1, 40, 1), counts(0.4, 50, 2), known(0.0), RESAMPLING).rows
    assert np.isnan(row(table, "missing_corrected")["value"])


def test_places_of_latents_are_counted(tmp_path):
    path = write(tmp_path, [(3, 0, [0.5, 0.2], [0.1, 0.3, 0.9]), (1, 0, [], []), (2, 0, [0.49], [0.2, 0.24])])
    table = read_counts(path, POINTS)
    assert table["count_missing"].tolist() == [1, 0, 0]
    assert table["of_missing"].tolist() == [2, 0, 1]
    assert table["count_discordant"].tolist() == [2, 0, 0]
    assert table["worst_discordant"].tolist() == pytest.approx([0.9, np.nan, 0.24], nan_ok=True)


def test_a_system_is_compared_with_the_control(tmp_path):
    rng = np.random.default_rng(0)

    def latents(folder, high):
        folder.mkdir()
        rows = [(5, 0, rng.uniform(0, high, 4).tolist(), rng.uniform(0, 0.3, 5).tolist()) for _ in range(80)]
        return write(folder, rows, () if folder.name != "system" else ("missing", "discordant"))

    system, control = latents(tmp_path / "system", 0.9), latents(tmp_path / "control", 0.52)
    for task in POINTS:
        pd.DataFrame({"id": ["a", "b"], "damaged": [1, 1], "found": [1, 1]}).to_csv(
            tmp_path / "system" / task / FOUND, index=False
        )
    table = compare_latents(control, system, tmp_path / "system", resampling=RESAMPLING)
    corrected = table[table["statistic"] == "missing_corrected"].iloc[0]
    theirs, ours = (
        sum((np.array(row) >= 0.5).sum() for row in pd.read_parquet(path)["missing"]) / 320
        for path in (control, system)
    )
    assert corrected["value"] == pytest.approx((ours - theirs) / (1 - theirs))
    assert {"worst_missing_ks", "worst_discordant_mean"} <= set(table["statistic"])
