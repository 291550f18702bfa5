"""Chapter of the synthetic critic in the report of a corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.findings import Findings, ReportItem, passage_items
from macroscope.critics.report_tables import divergence_table, statistics_table
from macroscope.critics.synthetic.figures import collect_points
from macroscope.files import read_json
from macroscope.phrases import number

PUBLISHED_ROWS = (
    {"system": "transformer (deng2022)", "word PPL": "2.28", "latent PPL of valid texts": "64.80"},
    {"system": "HSMM (deng2022)", "word PPL": "2.05", "latent PPL of valid texts": "47.24"},
    {"system": "process (deng2022)", "word PPL": "1.99", "latent PPL of valid texts": "44.30"},
)
PUBLISHED_SIZES = {"states": 256, "subsequences": 10_000, "segments": 50}
"""Sizes of the process in deng2022; the published numbers hold for these only."""
LATENT_COLUMNS = {
    "latent_ppl_valid": ("latent PPL of valid texts", 1.0),
    "latent_ppl": ("latent PPL of all texts", 1.0),
    "latent_ppl_ratio": ("latent PPL of all texts, × real text", 1.0),
    "valid_share": ("valid texts, %", 100.0),
}
VALIDITY_COLUMNS = {
    "valid_share": ("valid, % of texts", 100.0),
    "other_length_share": ("other number of sub-sequences, % of texts", 100.0),
    "unfinished_share": ("unfinished, % of texts", 100.0),
    "invalid_subsequence_share": ("invalid, % of sub-sequences", 100.0),
    "unknown_symbol_share": ("unknown, % of symbols", 100.0),
}
INVALID_SHOWN = 8


def items(findings: Findings) -> list[ReportItem]:
    """Return the tables and figures of the chapter, in order."""
    truth = read_json(findings.folder / "prior" / "truth.json")
    report_items = [
        ReportItem("structure", "Next-token prediction and structure", _structure_table(findings, truth)),
        ReportItem("validity", "Validity of texts", statistics_table(findings.statistics, VALIDITY_COLUMNS)),
    ]
    if len(collect_points(findings)):
        figure = findings.svg("curves")
        report_items.insert(1, ReportItem("curves", "Latent PPL over word PPL", figure=figure))
    report_items += passage_items(findings, "Texts of {system} with their states")
    divergences = divergence_table(findings.statistics)
    report_items += [
        ReportItem(
            "invalid",
            "Invalid sub-sequences",
            findings.stack("invalid.csv", lambda table: table.head(INVALID_SHOWN), keep_default_na=False),
            shows_texts=True,
        ),
        ReportItem("divergences", "Divergences between the state transitions", divergences),
    ]
    return report_items


def _structure_table(findings: Findings, truth: dict[str, Any]) -> pd.DataFrame:
    """Tabulate systems and the process (deng2022 Table 1), and the published numbers if its sizes are the published."""
    table = statistics_table(findings.statistics, LATENT_COLUMNS)
    perplexities = findings.perplexities
    ppl = [
        _format_interval(perplexities.loc[system], "word_ppl") if system in perplexities.index else "–"
        for system in table["system"]
    ]
    table.insert(1, "word PPL", ppl)
    process = {
        "system": "the process itself",
        "word PPL": _format_interval(truth, "word_ppl"),
        "latent PPL of valid texts": f"{number(truth['latent_ppl'])} (exact)",
    }
    published = PUBLISHED_ROWS if all(truth[name] == size for name, size in PUBLISHED_SIZES.items()) else ()
    return pd.concat([table, pd.DataFrame([process, *published])], ignore_index=True).fillna("–")


def _format_interval(row: Any, name: str) -> str:
    if pd.isna(row[name]):
        return "–"
    return f"{number(row[name])} [{number(row[f'{name}_low'])}, {number(row[f'{name}_high'])}]"
