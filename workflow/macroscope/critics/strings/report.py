"""What the strings critic contributes to the report of one corpus."""

from pathlib import Path

import pandas as pd

from macroscope.critics.critic import ReportItem
from macroscope.critics.divergence_report import CONTROL, divergence_figure, divergence_table, statistics_table
from macroscope.plotting import save

NUMBERS = {
    "latent_nll": ("latent NLL (nats a text)", 1.0),
    "latent_ppl": ("latent PPL (a word)", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
    "cross_entropy": ("cross-entropy of real text (nats a text)", 1.0),
    "forward_kl_per_word": ("forward KL (nats a word)", 1.0),
    "backward_kl_per_word": ("backward KL (nats a word)", 1.0),
}
TEXTS = {"empty_share": ("empty, %", 100.0), "duplicate_share": ("same as an earlier one, %", 100.0)}
UNLIKE_SHOWN = 2
SYSTEMS_SHOWN = 12


def draw(folder: Path, systems: list[str], statistics: pd.DataFrame, output: Path) -> None:
    """Draw the divergences into the folder `output`, as SVG and PDF."""
    save(divergence_figure(statistics, systems), output / f"strings_divergences_{folder.name}")


def items(folder: Path, systems: list[str], statistics: pd.DataFrame, figures: Path) -> list[ReportItem]:
    """List tables and figures; arguments as for `critics.critic.Critic.report_items`."""
    figure = figures / f"strings_divergences_{folder.name}.svg"
    name = "strings_divergences"
    found = [
        ReportItem(
            f"{name}_figure",
            "Divergences between the distributions over strings",
            f"{name}_figure",
            figure=figure,
            warning=_warning(statistics),
        ),
        ReportItem(name, "Divergences over strings, in numbers", name, divergence_table(statistics)),
    ]
    per_word = statistics_table(statistics, NUMBERS)
    if len(per_word):
        found.append(
            ReportItem("strings_latent_nll", "Texts under estimates of real text", "strings_latent_nll", per_word)
        )
    found.append(ReportItem("strings_texts", "What was scored", "strings_texts", statistics_table(statistics, TEXTS)))
    unlike = _unlike(folder, systems)
    if len(unlike):
        found.append(ReportItem("strings_unlike", "Texts that are least like real ones", "strings_unlike", unlike))
    return found


def _unlike(folder: Path, systems: list[str]) -> pd.DataFrame:
    tables = [
        pd.read_csv(folder / "evidence" / system / "unlike.csv", keep_default_na=False)
        .head(UNLIKE_SHOWN)
        .assign(system=system)
        for system in [system for system in systems if system != CONTROL][:SYSTEMS_SHOWN]
    ]
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    shown = table[["system", "words", "log_ratio_per_word", "excerpt"]]
    return shown.rename(columns={"log_ratio_per_word": "likelier as the system's, nats a word", "excerpt": "text"})


def _warning(statistics: pd.DataFrame) -> str | None:
    """Say so where n-grams were counted on too few texts for discounts of their own."""
    fallback = statistics[(statistics["statistic"] == "fallback_orders") & (statistics["value"] > 0)]
    if fallback.empty:
        return None
    named = ", ".join(fallback["system"].head(5)) + (" ..." if len(fallback) > 5 else "")
    return (
        f"the texts are too few to estimate the discounts of some n-grams ({named}): fixed ones stand in for them, and"
        " the divergences are rough; give more texts, or take a lower order"
    )
