"""Report items of the strings critic for one corpus."""

import pandas as pd

from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.report_tables import divergence_table, statistics_table
from macroscope.options import READABLE_NAMES
from macroscope.phrases import list_names
from macroscope.statistics.word_kinds import CONTENT_WORDS, FUNCTION_WORDS

NUMBERS = {
    "latent_nll": ("latent NLL (nats per text)", 1.0),
    "latent_ppl": ("latent PPL (per word)", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
    "cross_entropy": ("cross-entropy of real text (nats per text)", 1.0),
    "forward_kl_per_word": ("forward KL (nats per word)", 1.0),
    "backward_kl_per_word": ("backward KL (nats per word)", 1.0),
}
TEXTS = {
    "empty_share": ("empty, %", 100.0),
    "duplicate_share": ("same as an earlier one, %", 100.0),
    "scored_texts": ("scored texts", 1.0),
}
WORD_KINDS = {
    FUNCTION_WORDS: ("function words, AUC %", 100.0),
    CONTENT_WORDS: ("content words, AUC %", 100.0),
}
UNLIKE_SHOWN = 2


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    statistics = findings.statistics
    numbers = statistics_table(statistics, NUMBERS)
    return [
        ReportItem(
            "divergences_figure",
            "Divergences between the distributions over strings",
            figure=findings.svg("divergences"),
            warning=_warning(statistics),
        ),
        ReportItem("divergences", "Divergences over strings, in numbers", divergence_table(statistics)),
        ReportItem("latent_nll", "Likelihood of texts under estimates from real text", numbers),
        ReportItem("texts", "Texts that were scored", statistics_table(statistics, TEXTS)),
        ReportItem("word_kinds", "Detectability by kind of words", statistics_table(statistics, WORD_KINDS)),
        ReportItem("unlike", "Texts least like real ones", _unlike(findings), shows_texts=True),
    ]


def _unlike(findings: Findings) -> pd.DataFrame:
    table = findings.stack("unlike.csv", lambda table: table.head(UNLIKE_SHOWN), keep_default_na=False)
    return table.rename(columns={"log_ratio_per_word": "log q/p, nats per word", "excerpt": "text"})


def _warning(statistics: pd.DataFrame) -> str | None:
    """Return a warning if texts are too few to estimate the discounts of some n-grams; else None."""
    fallback = statistics[(statistics["statistic"] == "fallback_orders") & (statistics["value"] > 0)]
    if fallback.empty:
        return None
    systems = [READABLE_NAMES.get(system, system) for system in fallback["system"]]
    return (
        f"the texts are too few to estimate the discounts of some n-grams ({list_names(systems)}): fixed"
        " discounts replace them, and the divergences are rough; give more texts or a lower 'order'"
    )
