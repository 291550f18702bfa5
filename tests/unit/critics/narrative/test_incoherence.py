"""The incoherence of narratives: its components and scales by hand."""

import numpy as np
import pytest

from macroscope.critics.narrative.incoherence import (
    Scale,
    describe_incoherence,
    fit_scales,
    measure_incoherence,
    read_scales,
    write_scales,
)

TWO_THIRDS, QUARTER = np.log(2), -np.log(3)
"""Log odds of 2/3 and of 1/4."""


def test_components_are_means_of_log_odds_and_of_odds_and_the_order_turned_round():
    places = [np.array([2 / 3, 1 / 4]), np.array([]), np.array([1 / 4])]
    components = describe_incoherence({"discordant": places}, [1.5, None, float("nan")])
    assert components["discordant"] == pytest.approx([(TWO_THIRDS + QUARTER) / 2, np.nan, QUARTER], nan_ok=True)
    mean_odds = (2 + 1 / 3) / 2
    assert components["worst_discordant"] == pytest.approx([np.log(mean_odds), np.nan, QUARTER], nan_ok=True)
    assert components["order"] == pytest.approx([-1.5, np.nan, np.nan], nan_ok=True)
    assert list(describe_incoherence({"missing": places}, None)) == ["missing", "worst_missing"]


def test_certain_probabilities_are_finite():
    assert np.isfinite(describe_incoherence({"missing": [np.array([0, 1], np.float32)]}, None)["missing"]).all()


def test_scales_are_those_of_judged_narratives():
    components = {"order": np.array([1.0, 3.0, np.nan]), "missing": np.array([2.0, 2.0, 2.0]), "discordant": np.ones(1)}
    assert fit_scales(components) == {"order": Scale(2.0, pytest.approx(np.sqrt(2)))}


def test_the_incoherence_is_the_smooth_maximum_of_standardised_components():
    scales = {"order": Scale(1.0, 2.0), "discordant": Scale(-3.0, 0.5)}
    components = {
        "order": np.array([5.0, np.nan, -39.0, np.nan]),
        "discordant": np.array([-2.0, -3.5, -2.5, np.nan]),
        "missing": np.array([9.0, 9.0, 9.0, np.nan]),
    }
    far_apart = 1.0 - np.log(2)  # an order that is clearer than that of real text outweighs nothing
    expected = [2.0, -1.0, far_apart, np.nan]
    assert measure_incoherence(components, scales) == pytest.approx(expected, nan_ok=True, abs=1e-8)
    assert np.isnan(measure_incoherence(components, {})).all()


def test_scales_are_read_as_they_were_written(tmp_path):
    scales = {"order": Scale(1.25, 0.5)}
    write_scales(scales, tmp_path)
    assert read_scales(tmp_path) == scales
