"""Tests of rates corrected for false alarms and missed damage."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.comparison import compare, compare_latents, read_counts
from macroscope.critics.narrative.latents import DETECTION_COUNTS, INCOHERENCE
from macroscope.options import Resampling

from .test_scoring import POINTS, write

RESAMPLING = Resampling(resamples=200, permutations=200)


def counts(rate, stories, seed, slots=6):
    rng = np.random.default_rng(seed)
    detections = rng.binomial(slots, rate, stories).astype(float)
    table = {"id": [f"{seed}-{n}" for n in range(stories)], "opening": [""] * stories}
    worst = {"worst_missing": rng.random(stories), INCOHERENCE: np.nan}
    return pd.DataFrame(table | {"count_missing": detections, "of_missing": np.full(stories, float(slots))} | worst)


def known_damage(share, stories=4000):
    detections = np.zeros(stories)
    detections[: int(share * stories)] = 1.0
    return {"missing": (detections, np.ones(stories))}


def row(table, name):
    return table[table["statistic"] == name].iloc[0]


def test_corrected_rate_is_the_share_of_damage():
    """30 % of the system's slots are gaps; 70 % of gaps and 5 % of other slots are detected, as in real text."""
    mixed = 0.3 * 0.7 + 0.7 * 0.05
    table = compare(counts(0.05, 6000, 1), counts(mixed, 6000, 2), known_damage(0.7), RESAMPLING).rows
    corrected = row(table, "missing_corrected")
    assert corrected["value"] == pytest.approx(0.3, abs=0.015)
    assert corrected["ci_low"] < 0.3 < corrected["ci_high"]
    assert corrected["ci_high"] - corrected["ci_low"] < 0.04


def test_corrected_rate_is_that_of_the_formula():
    control, system = counts(0.1, 40, 1), counts(0.4, 50, 2)
    table = compare(control, system, known_damage(0.8), RESAMPLING).rows
    c, s = (counts["count_missing"].sum() / counts["of_missing"].sum() for counts in (control, system))
    assert row(table, "missing_corrected")["value"] == pytest.approx((s - c) / (0.8 - c))


def test_corrected_rate_is_undefined_if_no_damage_is_detected():
    table = compare(counts(0.1, 40, 1), counts(0.4, 50, 2), known_damage(0.0), RESAMPLING).rows
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
            tmp_path / "system" / task / DETECTION_COUNTS, index=False
        )
    table = compare_latents(control, system, tmp_path / "system", resampling=RESAMPLING)
    corrected = table[table["statistic"] == "missing_corrected"].iloc[0]
    control_rate, system_rate = (
        sum((np.array(row) >= 0.5).sum() for row in pd.read_parquet(path)["missing"]) / 320
        for path in (control, system)
    )
    assert corrected["value"] == pytest.approx((system_rate - control_rate) / (1 - control_rate))
    assert {"worst_missing_ks", "worst_discordant_mean"} <= set(table["statistic"])
