"""What the synthetic critic contributes to the report of one corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.divergence_report import divergence_table, statistics_table
from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem, passage_items
from macroscope.critics.synthetic.figures import points_of
from macroscope.files import read_json
from macroscope.options import CONTROL
from macroscope.tables import number

TABLE = (
    {"system": "transformer (deng2022)", "word PPL": "2.28", "latent PPL of valid texts": "64.80"},
    {"system": "HSMM (deng2022)", "word PPL": "2.05", "latent PPL of valid texts": "47.24"},
    {"system": "process (deng2022)", "word PPL": "1.99", "latent PPL of valid texts": "44.30"},
)
SIZES = {"states": 256, "subsequences": 10_000, "segments": 50}
"""Of the process that they are about: with others they mean nothing."""


LATENT = {
    "latent_ppl_valid": ("latent PPL of valid texts", 1.0),
    "latent_ppl": ("latent PPL of all texts", 1.0),
    "latent_ppl_ratio": ("of all, × real text", 1.0),
    "valid_share": ("valid texts, %", 100.0),
}
INVALID = {
    "valid_share": ("valid, % of texts", 100.0),
    "other_length_share": ("other length, % of texts", 100.0),
    "unfinished_share": ("unfinished, % of texts", 100.0),
    "invalid_subsequence_share": ("unknown, % of sub-sequences", 100.0),
    "unknown_symbol_share": ("unknown, % of symbols", 100.0),
}
INVALID_SHOWN = 8


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    truth = read_json(findings.folder / "prior" / "truth.json")
    found = [
        ReportItem("structure", "Next tokens, and structure", _structure(findings, truth)),
        ReportItem("validity", "Texts that the process cannot write", statistics_table(findings.statistics, INVALID)),
    ]
    if len(points_of(findings)):
        figure = findings.figure("curves").with_suffix(".svg")
        found.insert(1, ReportItem("curves", "Word PPL against latent PPL", figure=figure))
    found += passage_items(findings, "Texts of {system}, state by state")
    divergences = divergence_table(findings.statistics)
    found += [
        ReportItem("invalid", "Sub-sequences that the process does not have", _invalid(findings), shows_texts=True),
        ReportItem("divergences", "Divergences between the shares of the transitions", divergences),
    ]
    return [item for item in found if item.table is None or len(item.table)]


def _structure(findings: Findings, truth: dict[str, Any]) -> pd.DataFrame:
    """Table 1: a row a system, the process, and where it is of the published sizes the published numbers."""
    table = statistics_table(findings.statistics, LATENT)
    known = findings.perplexities
    ppl = [_with_ends(known.loc[system], "word_ppl") if system in known.index else "–" for system in table["system"]]
    table.insert(1, "word PPL", ppl)
    process = {
        "system": "the process itself",
        "word PPL": _with_ends(truth, "word_ppl"),
        "latent PPL of valid texts": f"{number(truth['latent_ppl'])} (exact)",
    }
    published = TABLE if all(truth[name] == size for name, size in SIZES.items()) else ()
    return pd.concat([table, pd.DataFrame([process, *published])], ignore_index=True).fillna("–")


def _with_ends(row: Any, name: str) -> str:
    if pd.isna(row[name]):
        return "–"
    return f"{number(row[name])} [{number(row[f'{name}_low'])}, {number(row[f'{name}_high'])}]"


def _invalid(findings: Findings) -> pd.DataFrame:
    tables = [
        table.head(INVALID_SHOWN).assign(system=system)
        for system, table in findings.tables("invalid.csv", MOST_SYSTEMS, keep_default_na=False)
        if system != CONTROL and len(table)
    ]
    if not tables:
        return pd.DataFrame()
    return pd.concat(tables, ignore_index=True)[["system", "subsequence", "count"]]
