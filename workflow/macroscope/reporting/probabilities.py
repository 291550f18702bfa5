"""Correlation of estimated log-probabilities with a model's own, over its texts (pimentel2022 §5.1, Figure 1)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS, GREY
from macroscope.plotting import add_legend, label_rows, style, title_panel
from macroscope.reporting.results import Results
from macroscope.resampling import Resampling
from macroscope.statistics.correlation import correlate

MARKERS = "os^Dv"
COLUMNS = ["corpus", "system", "estimate", "spearman", "ci_low", "ci_high", "p_value", "n", "seed", "signature"]


def probability_table(results: Results) -> pd.DataFrame:
    """Compute rank correlations between a model's own log q(x) and its estimates, over the texts of each system.

    Returns
    -------
    data frame
        `COLUMNS`; a row per estimate and system whose samples come from the model's own distribution.
    """
    statistics = results.plan.config.statistics
    resampling = Resampling(
        statistics.resamples, statistics.permutations, statistics.confidence, results.plan.config.seed
    )
    rows = []
    for corpus, system in results.plan.reporting.known_log_q():
        table = pd.read_parquet(results.local(results.plan.systems.language_models.log_probabilities(corpus, system)))
        true_log_q = table.set_index("id")["log_probability"]
        for critic, declared in results.plan.critics.plugins.items():
            if not declared.data.gives_log_q or (critic, corpus, system) not in results.plan.critics.comparisons:
                continue
            texts = pd.read_parquet(
                results.folder / "critics" / critic / corpus / "evidence" / system / "texts.parquet"
            )
            estimated = texts[texts["side"] == "candidate"].set_index("id")["log_q"]
            paired = (
                pd.concat([true_log_q, estimated], axis=1, join="inner").replace([np.inf, -np.inf], np.nan).dropna()
            )
            correlation = correlate(
                paired["log_q"].to_numpy()[None, None], paired["log_probability"].to_numpy(), "spearman", resampling
            )
            values = (correlation.value[0], correlation.low[0], correlation.high[0], correlation.p_value[0])
            signature = f"{results.plan.critics.signature(critic)}|{resampling.signature}"
            rows.append((corpus, system, critic, *values, len(paired), resampling.seed, signature))
    return pd.DataFrame(rows, columns=COLUMNS)


def plot_probabilities(table: pd.DataFrame, corpus: str) -> Figure:
    """Plot the correlations of every system of a corpus, with intervals."""
    rows = table[table["corpus"] == corpus]
    systems = list(rows["system"].unique())
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.2 + 0.45 * len(systems)))
        axes.axvline(0, color=GREY, lw=1)
        estimates = list(rows["estimate"].unique())
        for number, critic in enumerate(estimates):
            group = rows[rows["estimate"] == critic]
            offset = 0.24 * (number - (len(estimates) - 1) / 2)
            marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
            places = [systems.index(system) + offset for system in group["system"]]
            error = [group["spearman"] - group["ci_low"], group["ci_high"] - group["spearman"]]
            axes.errorbar(
                group["spearman"],
                places,
                xerr=error,
                fmt=marker,
                color=colour,
                capsize=3,
                label=f"estimated by {critic}",
            )
        label_rows(axes, systems)
        axes.set(
            xlim=(-1.04, 1.04),
            xlabel="rank correlation with the model's own log-probability, over its texts",
        )
        title_panel(axes, f"{corpus}: estimated against true log-probabilities")
        add_legend(figure)
    return figure
