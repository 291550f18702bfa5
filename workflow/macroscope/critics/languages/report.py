"""Items of the critic `languages` in the report of one corpus."""

import pandas as pd

from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.report_tables import VECTORS, divergence_table, statistics_table
from macroscope.files import read_json
from macroscope.phrases import number
from macroscope.tables import read_csv

MIXING = {
    "mixed_share": ("mixes of languages, %", 100.0),
    "latent_nll": ("latent NLL (nats)", 1.0),
    "latent_ppl_ratio": ("latent PPL, × real text", 1.0),
}
TEXTS = {
    "known_words": ("words of the vocabulary per text", 1.0),
    "without_words_share": ("texts without any, %", 100.0),
}
MIXED_SHOWN = 3
CHARACTERS_SHOWN = 220


def items(findings: Findings) -> list[ReportItem]:
    """Return tables and figures."""
    inference = findings.folder / "inference"
    topics = read_csv(inference / "languages.csv")
    statistics = findings.statistics
    return [
        ReportItem("mixing", "Mixes of languages", statistics_table(statistics, MIXING)),
        ReportItem("simplex", "Topic proportions of the texts", figure=findings.svg("simplex")),
        ReportItem("mixed", "The most mixed texts", _mixed(findings), shows_texts=True),
        ReportItem("languages", "The languages", topics.map(_format_value)),
        ReportItem("divergences", "Divergences between the shares of the languages", divergence_table(statistics)),
        ReportItem("vectors", "Distances between proportions", statistics_table(statistics, VECTORS)),
        ReportItem("model", "The model", pd.DataFrame([read_json(inference / "training.json")])),
        ReportItem("texts", "Projected texts", statistics_table(statistics, TEXTS)),
    ]


def _mixed(findings: Findings) -> pd.DataFrame:
    def show(table: pd.DataFrame) -> pd.DataFrame:
        top = table.head(MIXED_SHOWN)
        return top.assign(
            text=top["text"].str.slice(stop=CHARACTERS_SHOWN), largest_share=top["largest_share"].map(number)
        )

    return findings.stack("mixed.csv", show, control=True, keep_default_na=False)


def _format_value(value: object) -> object:
    return number(value) if isinstance(value, float) else value
