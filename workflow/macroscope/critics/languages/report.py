"""What the languages critic contributes to the report of one corpus."""

import pandas as pd

from macroscope.critics.divergence_report import divergence_table, statistics_table
from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem
from macroscope.files import read_json
from macroscope.tables import number, read_csv

MIXING = {
    "mixed_share": ("mixes of languages, %", 100.0),
    "latent_nll": ("latent NLL (nats)", 1.0),
    "latent_ppl_ratio": ("latent PPL, × real text", 1.0),
}
VECTORS = {
    "mmd_squared": ("MMD²", 1.0),
    "energy_distance": ("energy distance", 1.0),
    "precision": ("precision", 1.0),
    "recall": ("recall", 1.0),
}
TEXTS = {"known_words": ("known words a text", 1.0), "without_words_share": ("without any, %", 100.0)}
MIXED_SHOWN = 3
CHARACTERS_SHOWN = 220


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    inference = findings.folder / "inference"
    topics = read_csv(inference / "languages.csv")
    statistics = findings.statistics
    found = [
        ReportItem("mixing", "Mixes of languages", statistics_table(statistics, MIXING)),
        ReportItem("simplex", "Where the texts lie", figure=findings.figure("simplex").with_suffix(".svg")),
        ReportItem("mixed", "The most mixed texts", _mixed(findings), shows_texts=True),
        ReportItem("languages", "The languages", topics.map(_shown)),
        ReportItem("divergences", "Divergences between the shares of the languages", divergence_table(statistics)),
        ReportItem("vectors", "Distances between proportions", statistics_table(statistics, VECTORS)),
        ReportItem("model", "The model", pd.DataFrame([read_json(inference / "training.json")])),
        ReportItem("texts", "What was projected", statistics_table(statistics, TEXTS)),
    ]
    return [item for item in found if item.table is None or len(item.table)]


def _mixed(findings: Findings) -> pd.DataFrame:
    tables = []
    for system, table in findings.tables("mixed.csv", MOST_SYSTEMS, control=True, keep_default_na=False):
        some = table.head(MIXED_SHOWN)
        tables.append(some.assign(text=some["text"].str.slice(stop=CHARACTERS_SHOWN), system=system))
    table = pd.concat(tables, ignore_index=True).assign(largest_share=lambda all_: all_["largest_share"].map(number))
    return table[["system", *(column for column in table if column != "system")]]


def _shown(value: object) -> object:
    return number(value) if isinstance(value, float) else value
