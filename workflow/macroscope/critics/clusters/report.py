"""Report items of the clusters critic for one corpus: of its systems, and the tables of probing."""

import pandas as pd

from macroscope.critics.clusters.clustering import TEXTS_PER_CLUSTER
from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.report_tables import DIVERGENCES, PLOTTED, VECTORS, divergence_table, statistics_table
from macroscope.options import SPLIT_HALF
from macroscope.phrases import list_names
from macroscope.tables import read_csv

TEXTS = {
    "truncated_share": ("cut, %", 100.0),
    "empty_share": ("empty, %", 100.0),
    "duplicate_share": ("same as an earlier one, %", 100.0),
    "not_embedded_share": ("without embedding, %", 100.0),
}
CLUSTERS = {
    "clusters": ("clusters", 1.0),
    "learnt_on": ("fitted to (embeddings)", 1.0),
    "latent_nll": ("latent NLL (nats)", 1.0),
    "latent_ppl": ("latent PPL", 1.0),
    "reference_latent_ppl": ("latent PPL of real text", 1.0),
    "latent_nll_difference": ("difference in NLL", 1.0),
    "latent_ppl_ratio": ("× real text", 1.0),
}
CONTRIBUTIONS_SHOWN = 3
"""Number of clusters shown per divergence; the evidence has more."""
CHARACTERS_SHOWN = 160


def read_probing_tables(findings: Findings) -> pd.DataFrame:
    """Read the probing results of the corpus for all encoders; empty if the corpus is not probed."""
    probing = next((probing for probing in findings.options.probing if probing.corpus == findings.corpus), None)
    folder = findings.folder / "probing"
    tables = [read_csv(folder / f"{name}.csv").assign(encoder=name) for name in (probing.encoders if probing else ())]
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["encoder", *(column for column in table if column != "encoder")]]


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures: of the systems, if there are any, and of probing."""
    return [*(_system_items(findings) if findings.systems else []), *_probing_items(findings)]


def _system_items(findings: Findings) -> list[ReportItem]:
    statistics = findings.statistics
    all_items = [
        ReportItem(
            "divergences_figure",
            "Divergences between the cluster distributions",
            figure=findings.svg("divergences"),
            warning=_warning(statistics),
        ),
        ReportItem("divergences", "Divergences, in numbers", divergence_table(statistics)),
    ]
    curve = findings.svg("by_number")
    if curve.exists():
        all_items.append(ReportItem("by_number_figure", "Divergences by number of clusters", figure=curve))
    for name, title, columns in (
        ("latent_nll", "Clusters as latent states", CLUSTERS),
        ("vectors", "The embeddings themselves", VECTORS),
        ("texts", "Texts that were embedded", TEXTS),
    ):
        all_items.append(ReportItem(name, title, statistics_table(statistics, columns)))
    contributions = _contributions(findings)
    if len(contributions):
        all_items.append(
            ReportItem(
                "contributions", "Clusters that contribute most to each divergence", _cluster_labels(contributions)
            )
        )
        all_items.append(
            ReportItem("examples", "Example texts of these clusters", _examples(contributions), shows_texts=True)
        )
    return all_items


PROBED = {"stop_word_share": "share of stop words", "symbol_share": "share of symbols", "r_squared": "R²"}
"""Names in the probing table -> names shown to readers."""


def _probing_items(findings: Findings) -> list[ReportItem]:
    table = read_probing_tables(findings)
    if table.empty:
        return []
    figure = findings.svg("probing")
    return [
        ReportItem("probing_figure", "Probing: what clusters reveal about texts", figure=figure, caption="probing"),
        ReportItem(
            "probing",
            "Probing, in numbers",
            table,
            caption="probing_table",
            hidden=("seed", "signature"),
            labels=PROBED,
        ),
    ]


def _contributions(findings: Findings) -> pd.DataFrame:
    """Read the clusters that contribute most to each divergence of each system."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        return table.groupby("divergence", sort=False).head(CONTRIBUTIONS_SHOWN)

    return findings.stack("contributions.csv", show, keep_default_na=False)


def _cluster_labels(contributions: pd.DataFrame) -> pd.DataFrame:
    """Return clusters with their shares of the divergence: a row per system, a column per divergence."""
    labels = contributions["cluster"].map("#{}".format) + contributions["share"].map(" ({:.0%})".format)
    joined = labels.groupby([contributions["system"], contributions["divergence"]], sort=False).agg(", ".join)
    table = joined.unstack("divergence").reindex(contributions["system"].unique())
    columns = [name for name in PLOTTED if name in table]
    return table[columns].rename(columns=DIVERGENCES).fillna("–").reset_index()


def _examples(contributions: pd.DataFrame) -> pd.DataFrame:
    """Return, for each cluster shown, the real text and the system's text nearest to its centroid."""
    rows = contributions[contributions["divergence"].isin(PLOTTED)].drop_duplicates(["system", "cluster"])
    return pd.DataFrame(
        {
            "system": rows["system"],
            "cluster": rows["cluster"].map("#{}".format),
            "texts, real : system": [
                f"{real} : {generated}"
                for real, generated in zip(rows["reference_texts"], rows["candidate_texts"], strict=True)
            ],
            "a real text": rows["reference_example"].str.slice(stop=CHARACTERS_SHOWN),
            "a text of the system": rows["candidate_example"].str.slice(stop=CHARACTERS_SHOWN),
        }
    )


def _warning(statistics: pd.DataFrame) -> str | None:
    """Return a warning if systems have too few texts per cluster for valid intervals; else None.

    Halves of real text are excluded: they have half as many texts under the number of clusters of whole systems.
    """
    clusters = statistics[(statistics["statistic"] == "clusters") & (statistics["system"] != SPLIT_HALF)]
    texts = clusters[["n_reference", "n_candidate"]].min(axis=1)
    affected = clusters.loc[texts < TEXTS_PER_CLUSTER * clusters["value"], "system"]
    if affected.empty:
        return None
    return (
        f"there are fewer than {TEXTS_PER_CLUSTER} texts per cluster ({list_names(list(affected))}): the divergences"
        " are mostly bias, and the intervals of the corrected ones are wide; give more texts or fewer clusters"
    )
