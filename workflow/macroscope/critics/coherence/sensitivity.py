"""Sensitivity of the latent PPL to the prior, and to the quality of the projection on each system's texts."""

import pandas as pd

from macroscope.critics.findings import Findings
from macroscope.critics.table_cells import format_cell

PRIOR_COLUMNS = {
    "latent_ppl": "latent PPL",
    "latent_ppl_back_off": "back-off",
    "latent_ppl_additive_*": "additive, {}",
    "latent_ppl_aggregated": "of inferred transitions",
    "latent_ppl_published": "as published",
    "unseen_transition_share": "unseen transitions, share",
    "latent_ppl_seen": "PPL of seen transitions",
}
PROJECTION_COLUMNS = {
    "latent_ppl": "latent PPL",
    "latent_ppl_corrected": "corrected for classification errors",
    "latent_ppl_gold": "by section titles",
    "posterior_entropy": "entropy of the posterior, nats per section",
    "posterior_margin": "margin of the most probable type",
    "title_agreement_share": "agreement with titles, share",
}


def build_prior_table(findings: Findings) -> pd.DataFrame:
    """Tabulate the latent PPL of every system under every prior, and the contribution of unseen transitions."""
    return _table(findings, PRIOR_COLUMNS)


def build_projection_table(findings: Findings) -> pd.DataFrame:
    """Tabulate the latent PPL of every system with the confidence and accuracy of the classifier on its texts."""
    return _table(findings, PROJECTION_COLUMNS)


def _table(findings: Findings, columns: dict[str, str]) -> pd.DataFrame:
    """Tabulate available statistics, one row per system; * in a name matches any suffix."""
    statistics = findings.statistics["statistic"].unique()
    labels: dict[str, str] = {}
    for name, label in columns.items():
        stem, star, _ = name.partition("*")
        names = (
            [rows_of_system for rows_of_system in statistics if rows_of_system.startswith(stem)]
            if star
            else [name]
            if name in statistics
            else []
        )
        labels |= {rows_of_system: label.format(rows_of_system.removeprefix(stem)) for rows_of_system in names}
    rows = []
    for system, rows_of_system in findings.statistics.groupby("system", sort=False):
        indexed = rows_of_system.set_index("statistic")
        if not indexed.index.isin(list(labels)).any():
            continue  # the halves of real text have other statistics
        cells = {
            label: format_cell(indexed.loc[name]) if name in indexed.index else "–" for name, label in labels.items()
        }
        rows.append({"system": system, **cells})
    return pd.DataFrame(rows)
