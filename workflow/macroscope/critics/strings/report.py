"""What the strings critic contributes to the report of one corpus."""

import pandas as pd

from macroscope.critics.divergence_report import divergence_figure, divergence_table, statistics_table
from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem
from macroscope.plotting import save

NUMBERS = {
    "latent_nll": ("latent NLL (nats a text)", 1.0),
    "latent_ppl": ("latent PPL (a word)", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
    "cross_entropy": ("cross-entropy of real text (nats a text)", 1.0),
    "forward_kl_per_word": ("forward KL (nats a word)", 1.0),
    "backward_kl_per_word": ("backward KL (nats a word)", 1.0),
}
TEXTS = {
    "empty_share": ("empty, %", 100.0),
    "duplicate_share": ("same as an earlier one, %", 100.0),
    "scored_texts": ("scored texts", 1.0),
}
UNLIKE_SHOWN = 2


def draw(findings: Findings) -> None:
    """Draw the divergences."""
    save(divergence_figure(findings.statistics, findings.systems), findings.figure("divergences"))


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    statistics = findings.statistics
    found = [
        ReportItem(
            "divergences_figure",
            "Divergences between the distributions over strings",
            figure=findings.figure("divergences").with_suffix(".svg"),
            warning=_warning(statistics),
        ),
        ReportItem("divergences", "Divergences over strings, in numbers", divergence_table(statistics)),
    ]
    per_word = statistics_table(statistics, NUMBERS)
    if len(per_word):
        found.append(ReportItem("latent_nll", "Texts under estimates of real text", per_word))
    found.append(ReportItem("texts", "What was scored", statistics_table(statistics, TEXTS)))
    unlike = _unlike(findings)
    if len(unlike):
        found.append(ReportItem("unlike", "Texts that are least like real ones", unlike, shows_texts=True))
    return found


def _unlike(findings: Findings) -> pd.DataFrame:
    tables = [
        table.head(UNLIKE_SHOWN).assign(system=system)
        for system, table in findings.tables("unlike.csv", MOST_SYSTEMS, keep_default_na=False)
    ]
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    shown = table[["system", "id", "words", "log_ratio_per_word", "excerpt"]]
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
