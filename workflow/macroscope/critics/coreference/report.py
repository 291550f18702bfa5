"""What the coreference critic contributes to the report of one corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.divergence_report import divergence_table, statistics_table
from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem, passage_items
from macroscope.files import read_json
from macroscope.tables import number

CHAINS = {
    "latent_ppl": ("latent PPL", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
    "latent_ppl_mentions": ("latent PPL per mention", 1.0),
    "unlikely_mention_share": ("unlikely mentions, %", 100.0),
    "latent_ppl_published": ("latent PPL as published", 1.0),
}
MENTIONED = {
    "male_mention_share": ("male, %", 100.0),
    "female_mention_share": ("female, %", 100.0),
    "plural_mention_share": ("plural, %", 100.0),
    "pronoun_share": ("pronouns, %", 100.0),
}
LOOKED_AT = {
    "in_domain_share": ("in the domain, %", 100.0),
    "without_mentions_share": ("nobody in them, %", 100.0),
    "resolver_failed_share": ("resolver failed, %", 100.0),
    "invalid_mention_share": ("mentions left out, %", 100.0),
    "unknown_surface_share": ("mentions by unknown words, %", 100.0),
}
CONTRIBUTIONS_SHOWN, DIFFERENCES_SHOWN, UNLIKELY_SHOWN = 6, 3, 4
MOST = {
    "without_mentions_share": (0.5, "of the texts mention nobody"),
    "resolver_failed_share": (0.05, "of the texts made the resolver fail"),
    "invalid_mention_share": (0.05, "of the mentions are outside of the text or cut words"),
    "unknown_surface_share": (0.1, "of the mentions are by words that real text does not have for persons"),
}
"""Share above which a system is warned of, and what it is a share of."""
FEW_MENTIONS = 2000
"""Mentions in the train split below which the prior is said to know little."""


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    statistics, options = findings.statistics, findings.options
    resolution = read_json(findings.folder / "inference" / "resolution.json")
    prior = read_json(findings.folder / "prior" / "prior.json")
    about = pd.DataFrame([_about(resolution, prior)])
    looked_at = statistics_table(statistics, LOOKED_AT)
    found = [
        ReportItem("chains", "How likely the chains of mentions are", statistics_table(statistics, CHAINS)),
        ReportItem("looked_at", "What was looked at", looked_at, warning=warning_of_texts(statistics)),
        ReportItem("contributions", "n-grams that make the difference", _contributions(findings), shows_texts=True),
        ReportItem("unlikely", "Unlikely mentions", _unlikely(findings), shows_texts=True),
        *passage_items(findings, "Passages of {system} with the least likely mentions"),
        ReportItem("differences", "n-grams that are more or less probable", _differences(findings)),
        ReportItem("mentioned_figure", "Who is mentioned", figure=findings.figure("mentioned").with_suffix(".svg")),
        ReportItem("mentioned", "Who is mentioned, in numbers", statistics_table(statistics, MENTIONED)),
        ReportItem("divergences", "Divergences between pairs of symbols", divergence_table(statistics)),
        ReportItem("prior", "What the prior is learnt from", about, warning=warning_of(resolution, options.resolver)),
    ]
    return [item for item in found if item.table is None or len(item.table)]


def warning_of(resolution: dict[str, Any], resolver: str) -> str | None:
    """Say where there is too little to learn from, or where the resolver failed often."""
    looked_at = resolution["documents"] - resolution["out_of_domain"]
    if resolution["failed"] > 0.05 * looked_at:
        return (
            f"The resolver '{resolver}' failed on {resolution['failed']} of {looked_at} documents of the train split,"
            f" such as {resolution['failed_documents'][0]}: what is learnt from the others may be about something else."
        )
    if resolution["mentions"] < FEW_MENTIONS:
        return (
            f"The train split has {resolution['mentions']:,} mentions of persons: the model of chains has hardly seen"
            " any constellation twice, and small differences do not show. More documents, or documents with more"
            " persons in them, may help."
        )
    return None


def warning_of_texts(statistics: pd.DataFrame) -> str | None:
    """Say of which systems most texts have nobody in them, or many mentions are of no use."""
    found = []
    for share, (most, what) in MOST.items():
        rows = statistics[(statistics["statistic"] == share) & (statistics["value"] > most)]
        found += [f"{row.system}: {100 * row.value:.0f} % {what}" for row in rows.itertuples()]
    if not found:
        return None
    return (
        f"{'; '.join(found)}. What is said of these systems is of the few texts that are left, or of places that are"
        " wrong. Are the texts about persons, in the language of the resolver? Are the mentions those of these texts?"
    )


def _about(resolution: dict[str, Any], prior: dict[str, Any]) -> dict[str, Any]:
    counts = {
        name: resolution[name] for name in ("documents", "out_of_domain", "failed", "invalid_mentions", "mentions")
    }
    known = {"surfaces": len(prior["surfaces"]) - 2}
    discounts = prior["discounts"][prior["convention"]]
    return counts | known | {"discounts": ", ".join(number(discount) for discount in discounts)}


def _contributions(findings: Findings) -> pd.DataFrame:
    """n-grams by their contribution to the difference in latent NLL (deng2022 Table 6)."""
    tables = []
    for system, table in findings.tables("contributions.csv", MOST_SYSTEMS, keep_default_na=False):
        some = table[table["contribution"] > 0].head(CONTRIBUTIONS_SHOWN)
        cells = _ngrams(some).assign(
            **{
                "real text, %": (100 * some["reference_share"]).map(number),
                "system, %": (100 * some["candidate_share"]).map(number),
                "cost, nats": some["cost"].map(number),
                "contribution, nats a symbol": some["contribution"].map(number),
            }
        )
        tables.append(cells.assign(system=system))
    return _system_first(tables)


def _unlikely(findings: Findings) -> pd.DataFrame:
    """The least likely mentions, and what would be likely there (Table 15)."""
    tables = []
    for system, table in findings.tables("unlikely.csv", MOST_SYSTEMS, control=True, keep_default_na=False):
        some = table.head(UNLIKELY_SHOWN)
        cells = _ngrams(some).assign(
            **{
                "cost, nats": some["cost"].map(number),
                "most likely": some["likely"],
                "its cost": some["likely_cost"].map(number),
                "text": some["text"],
            }
        )
        tables.append(cells.assign(system=system))
    return _system_first(tables)


def _differences(findings: Findings) -> pd.DataFrame:
    """n-grams whose last symbol is more, or less, probable than in real text (Tables 16 and 17)."""
    tables = []
    for system, table in findings.tables("differences.csv", MOST_SYSTEMS, keep_default_na=False):
        more, less = table[table["log_ratio"] > 0], table[table["log_ratio"] < 0]
        some = pd.concat([more.head(DIFFERENCES_SHOWN), less.head(DIFFERENCES_SHOWN)])
        cells = _ngrams(some).assign(
            **{
                "P in real text": some["reference_probability"].map(number),
                "P in the system": some["candidate_probability"].map(number),
                "log ratio, nats": some["log_ratio"].map(number),
                "occurrences": [
                    f"{theirs} and {ours}"
                    for theirs, ours in zip(some["reference_count"], some["candidate_count"], strict=True)
                ],
            }
        )
        tables.append(cells.assign(system=system))
    return _system_first(tables)


def _ngrams(table: pd.DataFrame) -> pd.DataFrame:
    """Write each n-gram in one cell, without what stands before the chain."""
    columns = [column for column in table if str(column).startswith("z_")]
    joined = [" ".join(filter(None, row)) for row in table[columns].astype(str).to_numpy()]
    return pd.DataFrame({"n-gram": joined}, index=table.index)


def _system_first(tables: list[pd.DataFrame]) -> pd.DataFrame:
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["system", *(column for column in table if column != "system")]]
