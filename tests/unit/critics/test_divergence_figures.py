"""Figures of divergences have a panel for each divergence that is defined, and no other."""

import numpy as np
import pandas as pd

from macroscope.critics.clusters.figures import HALVES, plot_curves
from macroscope.critics.divergence_figure import plot_divergences
from macroscope.critics.report_tables import DIVERGENCES, PLOTTED
from macroscope.options import SPLIT_HALF

INTERVAL = {"ci_low": 0.1, "ci_high": 0.9}


def test_an_undefined_divergence_has_no_panel():
    values = {name: np.nan if name == "frontier_integral" else 0.5 for name in PLOTTED}
    rows = [
        {"system": system, "statistic": name, "value": value, **INTERVAL}
        for system in (SPLIT_HALF, "mine")
        for name, value in values.items()
    ]
    axes = plot_divergences(pd.DataFrame(rows), ["mine"]).axes
    assert [each.get_xlabel() for each in axes] == [DIVERGENCES[name] for name in PLOTTED[:-1]]


def test_curves_of_a_divergence_that_is_not_there_have_no_panel():
    shown = [name for name in PLOTTED if name != "jeffreys"]
    rows = [
        {"system": system, "divergence": name, "clusters": number, "value": 0.5, "p_adjusted": 0.5, **INTERVAL}
        for system in (HALVES, "mine")
        for name in shown
        for number in (5, 10)
    ]
    axes = plot_curves(pd.DataFrame(rows)).axes
    assert [each.get_ylabel() for each in axes] == [DIVERGENCES[name] for name in shown]
    assert [each.get_xlabel() for each in axes] == ["", "", *["number of clusters"] * 3]
