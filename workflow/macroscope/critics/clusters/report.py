"""What the clusters critic contributes to the report of one corpus."""

import pandas as pd

from macroscope.critics.clusters.clustering import TEXTS_PER_CLUSTER
from macroscope.critics.clusters.figures import probed
from macroscope.critics.divergence_report import DIVERGENCES, DRAWN, divergence_table, statistics_table
from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem
from macroscope.options import SPLIT_HALF

TEXTS = {
    "truncated_share": ("cut, %", 100.0),
    "empty_share": ("empty, %", 100.0),
    "duplicate_share": ("same as an earlier one, %", 100.0),
    "not_embedded_share": ("without embedding, %", 100.0),
}
CLUSTERS = {
    "clusters": ("clusters", 1.0),
    "learnt_on": ("learnt on", 1.0),
    "latent_nll": ("latent NLL (nats)", 1.0),
    "latent_ppl": ("latent PPL", 1.0),
    "reference_latent_ppl": ("of real text in these clusters", 1.0),
    "latent_nll_difference": ("difference in NLL", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
}
VECTORS = {
    "mmd_squared": ("MMD²", 1.0),
    "energy_distance": ("energy distance", 1.0),
    "precision": ("precision", 1.0),
    "recall": ("recall", 1.0),
}
CONTRIBUTIONS_SHOWN = 3
"""Clusters that are named for each divergence; the evidence has more."""
CHARACTERS_SHOWN = 160


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures: of the systems, where any were judged, and of what the clusters know."""
    return [*(_of_systems(findings) if findings.systems else []), *_of_probing(findings)]


def _of_systems(findings: Findings) -> list[ReportItem]:
    statistics = findings.statistics
    found = [
        ReportItem(
            "divergences_figure",
            "Divergences between the cluster distributions",
            figure=findings.figure("divergences").with_suffix(".svg"),
            warning=_warning(statistics),
        ),
        ReportItem("divergences", "Divergences, in numbers", divergence_table(statistics)),
    ]
    curve = findings.figure("by_number").with_suffix(".svg")
    if curve.exists():
        found.append(ReportItem("by_number_figure", "Divergences by number of clusters", figure=curve))
    for name, title, columns in (
        ("latent_nll", "Clusters as latent states", CLUSTERS),
        ("vectors", "The embeddings themselves", VECTORS),
        ("texts", "What was embedded", TEXTS),
    ):
        found.append(ReportItem(name, title, statistics_table(statistics, columns)))
    contributions = _contributions(findings)
    if len(contributions):
        found.append(ReportItem("contributions", "Clusters that add most to each divergence", _named(contributions)))
        found.append(
            ReportItem("examples", "Texts of these clusters, of both sides", _examples(contributions), shows_texts=True)
        )
    return found


PROBED = {"stop_word_share": "share of stop words", "symbol_share": "share of symbols", "r_squared": "R²"}
"""Names in the table of probes -> what a reader sees."""


def _of_probing(findings: Findings) -> list[ReportItem]:
    table = probed(findings)
    if table.empty:
        return []
    figure = findings.figure("probing").with_suffix(".svg")
    return [
        ReportItem("probing_figure", "What the clusters know", figure=figure, caption="probing"),
        ReportItem(
            "probing",
            "What the clusters know, in numbers",
            table,
            caption="probing_table",
            hidden=("seed", "signature"),
            said=PROBED,
        ),
    ]


def _contributions(findings: Findings) -> pd.DataFrame:
    """The clusters that add most to each divergence of each system."""
    tables = [
        table.groupby("divergence", sort=False).head(CONTRIBUTIONS_SHOWN).assign(system=system)
        for system, table in findings.tables("contributions.csv", MOST_SYSTEMS, keep_default_na=False)
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _named(contributions: pd.DataFrame) -> pd.DataFrame:
    """A row a system, a column a divergence: its clusters, with their shares of it."""
    named = contributions["cluster"].map("#{}".format) + contributions["share"].map(" ({:.0%})".format)
    joined = named.groupby([contributions["system"], contributions["divergence"]], sort=False).agg(", ".join)
    table = joined.unstack("divergence").reindex(contributions["system"].unique())
    shown = [name for name in DRAWN if name in table]
    return table[shown].rename(columns=DIVERGENCES).fillna("–").reset_index()


def _examples(contributions: pd.DataFrame) -> pd.DataFrame:
    """The text of either side that is nearest to the centre of each cluster that is named."""
    some = contributions[contributions["divergence"].isin(DRAWN)].drop_duplicates(["system", "cluster"])
    return pd.DataFrame(
        {
            "system": some["system"],
            "cluster": some["cluster"].map("#{}".format),
            "texts, real : system": [
                f"{real} : {own}" for real, own in zip(some["reference_texts"], some["candidate_texts"], strict=True)
            ],
            "a real text": some["reference_example"].str.slice(stop=CHARACTERS_SHOWN),
            "a text of the system": some["candidate_example"].str.slice(stop=CHARACTERS_SHOWN),
        }
    )


def _warning(statistics: pd.DataFrame) -> str | None:
    """Say so where there are too few texts a cluster for the intervals of a system to hold.

    Halves of real text have half as many wherever the number of clusters is that of whole systems: no fault of these.
    """
    clusters = statistics[(statistics["statistic"] == "clusters") & (statistics["system"] != SPLIT_HALF)]
    texts = clusters[["n_reference", "n_candidate"]].min(axis=1)
    few = clusters.loc[texts < TEXTS_PER_CLUSTER * clusters["value"], "system"]
    if few.empty:
        return None
    named = ", ".join(few.head(5)) + (" ..." if len(few) > 5 else "")
    return (
        f"there are fewer than {TEXTS_PER_CLUSTER} texts a cluster ({named}): the divergences are mostly bias, and the"
        " intervals of the corrected ones are long; take fewer clusters or more texts"
    )
