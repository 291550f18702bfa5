"""Chapter of the coreference critic in the report of a corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.findings import Findings, ReportItem, passage_items
from macroscope.critics.numeric_latents import numbers_table
from macroscope.critics.report_tables import divergence_table, statistics_table
from macroscope.files import read_json
from macroscope.phrases import number

CHAIN_COLUMNS = {
    "latent_ppl": ("latent PPL", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
    "latent_ppl_mentions": ("latent PPL per mention", 1.0),
    "unlikely_mention_share": ("unlikely mentions, %", 100.0),
    "latent_ppl_published": ("latent PPL as published", 1.0),
}
MENTION_COLUMNS = {
    "male_mention_share": ("male, %", 100.0),
    "female_mention_share": ("female, %", 100.0),
    "plural_mention_share": ("plural, %", 100.0),
    "pronoun_share": ("pronouns, %", 100.0),
}
COVERAGE_COLUMNS = {
    "in_domain_share": ("in the domain, %", 100.0),
    "without_mentions_share": ("without mentions, %", 100.0),
    "few_names_share": ("too few names, %", 100.0),
    "resolver_failed_share": ("resolver failed, %", 100.0),
    "invalid_mention_share": ("invalid, % of mentions", 100.0),
    "unknown_surface_share": ("unknown surfaces, % of mentions", 100.0),
}
NAMES = {"name_mismatch": "log odds that names have changed places"}
CONTRIBUTIONS_SHOWN, DIFFERENCES_SHOWN, RANDOM_SHOWN = 10, 5, 12
"""Numbers of rows per system of Table 6, of Tables 16 and 17 each, and of Table 15 (deng2022)."""
UNLIKELY_SHOWN = 4
WARNING_SHARES = {
    "without_mentions_share": (0.5, "of the texts have no mentions of persons"),
    "resolver_failed_share": (0.05, "of the texts failed in the resolver"),
    "invalid_mention_share": (0.05, "of the mentions are outside the text or cut words"),
    "unknown_surface_share": (0.1, "of the mentions are by words that never refer to persons in the train split"),
}
"""Statistic -> share above which the report warns about a system, and the text of the warning."""
FEW_MENTIONS = 2000
"""Number of mentions in the train split below which the report warns about the prior."""


def items(findings: Findings) -> list[ReportItem]:
    """Return the tables and figures of the chapter, in order."""
    statistics, options = findings.statistics, findings.options
    resolution = read_json(findings.folder / "inference" / "resolution.json")
    prior = read_json(findings.folder / "prior" / "prior.json")
    about = pd.DataFrame([_training_summary(resolution, prior)])
    coverage = statistics_table(statistics, COVERAGE_COLUMNS)
    return [
        ReportItem("chains", "Latent PPL of the chains of mentions", statistics_table(statistics, CHAIN_COLUMNS)),
        ReportItem("looked_at", "Coverage", coverage, warning=check_texts(statistics)),
        ReportItem(
            "contributions", "n-grams behind the difference in latent NLL", _contributions(findings), shows_texts=True
        ),
        ReportItem(
            "unlikely", "Unlikely mentions", _unlikely(findings, "unlikely.csv", UNLIKELY_SHOWN), shows_texts=True
        ),
        ReportItem(
            "unlikely_random",
            "Unlikely mentions, sampled at random",
            _unlikely(findings, "unlikely_random.csv", RANDOM_SHOWN),
            shows_texts=True,
        ),
        *passage_items(findings, "Passages of {system} with the least likely mentions"),
        ReportItem("differences", "n-grams with other probabilities than in real text", _differences(findings)),
        ReportItem("mentioned_figure", "Mentions by gender", figure=findings.svg("mentioned")),
        ReportItem("mentioned", "Mentions by gender, in numbers", statistics_table(statistics, MENTION_COLUMNS)),
        ReportItem("divergences", "Divergences between pairs of symbols", divergence_table(statistics)),
        ReportItem("names", "Use of names", numbers_table(findings, NAMES)),
        ReportItem(
            "prior", "Training data of the prior", about, warning=check_resolution(resolution, options.resolver)
        ),
    ]


def check_resolution(resolution: dict[str, Any], resolver: str) -> str | None:
    """Return a warning if the resolver failed often on the train split, or if it has few mentions."""
    in_domain = resolution["documents"] - resolution["out_of_domain"]
    if resolution["failed"] > 0.05 * in_domain:
        return (
            f"The resolver '{resolver}' failed on {resolution['failed']} of {in_domain} documents of the train split,"
            f" such as {resolution['failed_documents'][0]}: the other documents may not be representative."
        )
    if resolution["mentions"] < FEW_MENTIONS:
        return (
            f"The train split has {resolution['mentions']:,} mentions of persons: few n-grams of mentions occur twice,"
            " and small differences cannot be detected. More documents, or documents with more mentions of persons, may"
            " help."
        )
    return None


def check_texts(statistics: pd.DataFrame) -> str | None:
    """Return a warning about systems whose texts mostly lack persons or usable mentions, or None."""
    findings_by_system = []
    for share, (most, description) in WARNING_SHARES.items():
        rows = statistics[(statistics["statistic"] == share) & (statistics["value"] > most)]
        findings_by_system += [f"{row.system}: {100 * row.value:.0f} % {description}" for row in rows.itertuples()]
    if not findings_by_system:
        return None
    return (
        f"{'; '.join(findings_by_system)}. The numbers of these systems rest on the few remaining texts, or on wrong"
        " positions. Check that the texts are about persons, in the language of the resolver, and that the mentions are"
        " those of these texts."
    )


def _training_summary(resolution: dict[str, Any], prior: dict[str, Any]) -> dict[str, Any]:
    counts = {
        name: resolution[name] for name in ("documents", "out_of_domain", "failed", "invalid_mentions", "mentions")
    }
    vocabulary = {"surfaces": len(prior["surfaces"]) - 2}
    discounts = prior["discounts"][prior["convention"]]
    return counts | vocabulary | {"discounts": ", ".join(number(discount) for discount in discounts)}


def _contributions(findings: Findings) -> pd.DataFrame:
    """Tabulate the n-grams with the largest contribution to the difference in latent NLL (deng2022 Table 6)."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        shown = table[table["contribution"] > 0].head(CONTRIBUTIONS_SHOWN)
        return _join_ngrams(shown).assign(
            **{
                "real text, %": (100 * shown["reference_share"]).map(number),
                "system, %": (100 * shown["candidate_share"]).map(number),
                "cost, nats": shown["cost"].map(number),
                "contribution, nats per symbol": shown["contribution"].map(number),
            }
        )

    return findings.stack("contributions.csv", show, keep_default_na=False)


def _unlikely(findings: Findings, name: str, rows: int) -> pd.DataFrame:
    """Tabulate unlikely mentions, with the most likely alternatives (Table 15)."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        shown = table.head(rows)
        return _join_ngrams(shown).assign(
            **{
                "cost, nats": shown["cost"].map(number),
                "most likely": shown["likely"],
                "its cost": shown["likely_cost"].map(number),
                "text": shown["text"],
            }
        )

    return findings.stack(name, show, control=True, keep_default_na=False)


def _differences(findings: Findings) -> pd.DataFrame:
    """Tabulate n-grams whose last symbol is more, or less, probable than in real text (Tables 16 and 17)."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        more, less = table[table["log_ratio"] > 0], table[table["log_ratio"] < 0]
        shown = pd.concat([more.head(DIFFERENCES_SHOWN), less.head(DIFFERENCES_SHOWN)])
        return _join_ngrams(shown).assign(
            **{
                "P in real text": shown["reference_probability"].map(number),
                "P in the system": shown["candidate_probability"].map(number),
                "log ratio, nats": shown["log_ratio"].map(number),
                "occurrences": [
                    f"{reference} and {candidate}"
                    for reference, candidate in zip(shown["reference_count"], shown["candidate_count"], strict=True)
                ],
            }
        )

    return findings.stack("differences.csv", show, keep_default_na=False)


def _join_ngrams(table: pd.DataFrame) -> pd.DataFrame:
    """Join each n-gram into one cell, without padding."""
    columns = [column for column in table if str(column).startswith("z_")]
    joined = [" ".join(filter(None, row)) for row in table[columns].astype(str).to_numpy()]
    return pd.DataFrame({"n-gram": joined}, index=table.index)
