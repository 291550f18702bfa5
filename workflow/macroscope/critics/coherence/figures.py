"""Figures of the coherence critic for a corpus: calibration of the section classifier."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREY
from macroscope.critics.findings import Findings
from macroscope.plotting import add_legend, interval_bars, save, style, title_panel
from macroscope.statistics.proportions import clustered_interval
from macroscope.tables import read_csv


def plot_reliability_diagram(table: pd.DataFrame, title: str, confidence: float) -> Figure:
    """Plot the accuracy of the section classifier against its confidence, with intervals over documents."""
    filled = table[table["sections"] > 0]
    intervals = clustered_interval(
        filled["correct"],
        filled["sections"],
        filled["squares"],
        filled["squared_sections"],
        filled["documents"],
        filled["affected"],
        confidence,
    )
    with style():
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(5.2, 5.4), sharex=True, gridspec_kw={"height_ratios": [3, 1]}
        )
        top.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--", label="perfect calibration")
        errors = interval_bars(filled["accuracy"], *intervals)
        top.errorbar(
            filled["confidence"], filled["accuracy"], yerr=errors, fmt="o", color=BLUE, capsize=3, label="validation"
        )
        top.set(
            ylabel=f"accuracy (share of sections), {100 * confidence:g} % interval",
            ylim=(0, 1.03),
            xlim=(0, 1.02),
        )
        title_panel(top, title)
        bottom.bar((filled["low"] + filled["high"]) / 2, filled["sections"], width=0.08, color=BLUE, edgecolor="white")
        bottom.set(xlabel="confidence of the most probable type", ylabel="sections")
        add_legend(figure)
    return figure


def plot(findings: Findings) -> None:
    """Plot the reliability diagram of the section classifier."""
    table = read_csv(findings.folder / "inference" / "reliability.csv")
    title = "Section classifier, validation sections"
    save(plot_reliability_diagram(table, title, findings.confidence), findings.figure("reliability"))
