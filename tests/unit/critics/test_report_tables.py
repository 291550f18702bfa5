"""Cells of the report's tables."""

import pandas as pd
import pytest

from macroscope.critics.report_tables import format_cell, format_with_interval

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.0008941, -0.002307, 0.004095, "0.0009 [-0.0023, 0.0041]"),
        (-0.0005439, -0.3836, 0.3825, "0.00 [-0.38, 0.38]"),
        (848.0, 824.5, 871.5, "848 [824, 872]"),
        (12345.6, 11000.2, 14000.9, "12,346 [11,000, 14,001]"),
        (1.0, 1.0, 1.0, "1 [1, 1]"),
        (2e-9, 1e-9, 3e-9, "2 × 10⁻⁹ [1 × 10⁻⁹, 3 × 10⁻⁹]"),
        (0.1216, NAN, NAN, "0.122"),
        (3.0, 1.0, float("inf"), "3 [1, inf]"),
        (float("-inf"), float("-inf"), float("-inf"), "-inf [-inf, -inf]"),
    ],
)
def test_the_interval_sets_the_number_of_decimals(value, low, high, shown):
    assert format_with_interval(value, low, high) == shown


def test_cells_have_stars_and_units():
    row = pd.Series({"value": 0.5, "ci_low": 0.4, "ci_high": 0.6, "p_adjusted": 0.01})
    assert format_cell(row, 100.0) == "50 [40, 60] *"
    assert format_cell(row.replace(0.01, 0.5)) == "0.50 [0.40, 0.60]"
    assert format_cell(row.replace(0.5, NAN)) == "undefined"
