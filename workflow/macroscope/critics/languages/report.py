"""Items of the critic `languages` in the report of one corpus."""

import pandas as pd

from macroscope.critics.findings import MAX_SYSTEMS, Findings, ReportItem
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
    report_items = [
        ReportItem("mixing", "Mixes of languages", statistics_table(statistics, MIXING)),
        ReportItem("simplex", "Topic proportions of the texts", figure=findings.svg("simplex")),
        ReportItem("mixed", "The most mixed texts", _mixed(findings), shows_texts=True),
        ReportItem("languages", "The languages", topics.map(_format_value)),
        ReportItem("divergences", "Divergences between the shares of the languages", divergence_table(statistics)),
        ReportItem("vectors", "Distances between proportions", statistics_table(statistics, VECTORS)),
        ReportItem("model", "The model", pd.DataFrame([read_json(inference / "training.json")])),
        ReportItem("texts", "Projected texts", statistics_table(statistics, TEXTS)),
    ]
    return [item for item in report_items if item.table is None or len(item.table)]


def _mixed(findings: Findings) -> pd.DataFrame:
    tables = []
    for system, table in findings.tables("mixed.csv", MAX_SYSTEMS, control=True, keep_default_na=False):
        top = table.head(MIXED_SHOWN)
        tables.append(top.assign(text=top["text"].str.slice(stop=CHARACTERS_SHOWN), system=system))
    table = pd.concat(tables, ignore_index=True).assign(largest_share=lambda all_: all_["largest_share"].map(number))
    return table[["system", *(column for column in table if column != "system")]]


def _format_value(value: object) -> object:
    return number(value) if isinstance(value, float) else value
