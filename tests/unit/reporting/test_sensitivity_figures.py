"""Figures of sensitivity: every damage and number is readable in them."""

import pytest

from macroscope.reporting.sensitivity_figures import plot_curves, plot_heat_map
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
