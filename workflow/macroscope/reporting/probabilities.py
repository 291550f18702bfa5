"""Do estimated probabilities rank a model's texts as the model itself does (pimentel2022 §5.1, Figure 1)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS, GREY
from macroscope.plotting import style
from macroscope.reporting.results import Results
from macroscope.statistics.correlation import correlate
from macroscope.statistics.latent import Resampling

MARKERS = "os^Dv"
COLUMNS = ["corpus", "system", "estimate", "spearman", "ci_low", "ci_high", "p_value", "n", "seed", "signature"]


def probability_table(results: Results) -> pd.DataFrame:
    """Rank correlation over the texts of each system of a model's own log q(x) with the estimates of it.

    Returns
    -------
    data frame
        `COLUMNS`; a row a system whose samples were drawn from the model's own distribution, and an estimate.
    """
    statistics = results.plan.config.statistics
    resampling = Resampling(
        statistics.resamples, statistics.permutations, statistics.confidence, results.plan.config.seed
    )
    rows = []
    for corpus, system in results.plan.critics.known_log_q():
        table = pd.read_parquet(results.plan.systems.language_models.log_probabilities(corpus, system))
        known = table.set_index("id")["log_probability"]
        for critic, declared in results.plan.critics.found.items():
            if not declared.data.gives_log_q or (critic, corpus, system) not in results.plan.critics.comparisons:
                continue
            texts = pd.read_parquet(
                results.folder / "critics" / critic / corpus / "evidence" / system / "texts.parquet"
            )
            estimated = texts[texts["side"] == "candidate"].set_index("id")["log_q"]
            both = pd.concat([known, estimated], axis=1, join="inner").replace([np.inf, -np.inf], np.nan).dropna()
            found = correlate(
                both["log_q"].to_numpy()[None, None], both["log_probability"].to_numpy(), "spearman", resampling
            )
            values = (found.value[0], found.low[0], found.high[0], found.p_value[0])
            signature = f"{results.plan.critics.signature(critic)}|{resampling.signature}"
            rows.append((corpus, system, critic, *values, len(both), resampling.seed, signature))
    return pd.DataFrame(rows, columns=COLUMNS)


def probability_figure(table: pd.DataFrame, corpus: str) -> Figure:
    """Correlations of every system of a corpus, with intervals."""
    rows = table[table["corpus"] == corpus]
    systems = list(rows["system"].unique())
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.5 + 0.45 * len(systems)))
        axes.axvline(0, color=GREY, lw=1)
        estimates = list(rows["estimate"].unique())
        for number, critic in enumerate(estimates):
            some = rows[rows["estimate"] == critic]
            offset = 0.24 * (number - (len(estimates) - 1) / 2)
            marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
            places = [systems.index(system) + offset for system in some["system"]]
            error = [some["spearman"] - some["ci_low"], some["ci_high"] - some["spearman"]]
            axes.errorbar(
                some["spearman"],
                places,
                xerr=error,
                fmt=marker,
                color=colour,
                capsize=3,
                label=f"estimated by {critic}",
            )
        axes.set_yticks(range(len(systems)), systems)
        axes.set(
            xlim=(-1.04, 1.04),
            ylim=(len(systems) - 0.5, -0.5),
            xlabel="rank correlation with the model's own log-probability, over its texts",
            title=f"{corpus}: whose probability is it?",
        )
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
