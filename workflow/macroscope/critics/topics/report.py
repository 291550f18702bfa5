"""Items of the critic `topics` in the report of one corpus."""

from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.numeric_latents import numbers_table
from macroscope.critics.report_tables import VECTORS, divergence_table, statistics_table
from macroscope.files import read_json
from macroscope.phrases import number, shorten
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

CORRELATIONS = {
    "latent_nll": ("latent NLL (nats)", 1.0),
    "latent_nll_published": ("as published (nats)", 1.0),
    "latent_ppl_ratio": ("latent PPL, × real text", 1.0),
    "covariance_discrepancy": ("discrepancy of covariances", 1.0),
    "posterior_resolved": ("variance resolved, %", 100.0),
}
PATCHINESS = {"patchiness": "patchiness of the topics"}
TEXTS = {
    "known_words": ("words of the vocabulary per text", 1.0),
    "without_words_share": ("texts without any, %", 100.0),
    "not_converged_share": ("texts not converged, %", 100.0),
}
TOPICS_SHOWN, PAIRS_SHOWN, OUTLIERS_SHOWN = 5, 3, 2
CHARACTERS_SHOWN = 220


def items(findings: Findings) -> list[ReportItem]:
    """Return tables and figures."""
    inference = findings.folder / "inference"
    validation = read_json(inference / "validation.json")
    topics = read_csv(inference / "topics.csv")
    warning = model_warning(validation)
    statistics = findings.statistics
    return [
        ReportItem("correlations", "Topic correlations", statistics_table(statistics, CORRELATIONS)),
        ReportItem(
            "covariances",
            "Covariances of topics",
            figure=findings.svg("covariances"),
        ),
        ReportItem("pairs", "Pairs of topics whose correlation differs", _pairs(findings)),
        ReportItem("shares", "Topics that are more or less frequent", _shares(findings), shows_texts=True),
        ReportItem("divergences", "Divergences between the shares of the topics", divergence_table(statistics)),
        ReportItem("vectors", "Distances between topic strengths", statistics_table(statistics, VECTORS)),
        ReportItem("patchiness", "Patchiness of topics", numbers_table(findings, PATCHINESS)),
        ReportItem("outliers", "Documents with the least likely topics", _outliers(findings), shows_texts=True),
        ReportItem(
            "topics", "The topics", topics.assign(share=topics["share"].map(number), npmi=topics["npmi"].map(number))
        ),
        ReportItem(
            "model", "The topic model", pd.DataFrame([_flat(validation)]), warning=warning, unusable=warning is not None
        ),
        ReportItem("texts", "Projected texts", statistics_table(statistics, TEXTS)),
    ]


def model_warning(validation: dict[str, Any]) -> str | None:
    """Return a warning if the topics do not predict the words of held-out documents; otherwise None."""
    topics, alone = validation["completion_perplexity"], validation["unigram_perplexity"]
    if alone is None:
        return (
            "The topic model cannot be evaluated: no validation document has two words of its vocabulary. Do not rely"
            " on the numbers of this critic. More documents may help."
        )
    if topics is not None and topics < alone:
        return None
    perplexity = "infinity" if topics is None else number(topics)
    return (
        "The topic model does not predict words better than their frequencies. Given half of the words of a validation"
        f" document, it predicts the others with a perplexity of {perplexity}, word frequencies alone with"
        f" {number(alone)}. Do not rely on the numbers of this critic. More documents or fewer topics may help."
    )


def _flat(validation: dict[str, Any]) -> dict[str, Any]:
    """Return one row of numbers: the perplexities by weight of the prior as text, the topics without words counted."""
    tried, weight = validation["perplexity_by_covariance_prior"], validation["covariance_prior"]
    by_weight = ", ".join(f"{name}: {number(np.nan if value is None else value)}" for name, value in tried.items())
    at_edge = len(tried) > 1 and weight == max(map(float, tried))
    chosen = f"{weight:g} (the largest weight tried)" if at_edge else f"{weight:g}"
    return validation | {
        "covariance_prior": chosen,
        "perplexity_by_covariance_prior": by_weight,
        "dead_topics": len(validation["dead_topics"]),
    }


def _pairs(findings: Findings) -> pd.DataFrame:
    """Tabulate the pairs of topics whose correlation differs most from real text's, by system."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        top = table.head(PAIRS_SHOWN)
        return pd.DataFrame(
            {
                "first topic": top["first"],
                "second topic": top["second"],
                "correlation in real text": top["reference_correlation"].map(number),
                "in the system": top["candidate_correlation"].map(number),
            }
        )

    return findings.stack("pairs.csv", show)


def _shares(findings: Findings) -> pd.DataFrame:
    """Tabulate the topics whose share differs most from real text's, by system; shares in %."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        top = table.head(TOPICS_SHOWN)
        cells = pd.DataFrame({"topic": top["words"], "real text, %": top["reference_share"].map(_percent)})
        cells["system, %"] = top["candidate_share"].map(_percent)
        cells["difference, points"] = [
            f"{100 * row.difference:+.2g} [{100 * row.ci_low:.2g}, {100 * row.ci_high:.2g}]"
            + (" *" if row.p_adjusted < SIGNIFICANT else "")
            for row in top.itertuples()
        ]
        return cells

    return findings.stack("topics.csv", show)


def _outliers(findings: Findings) -> pd.DataFrame:
    """Tabulate the documents with the highest T(x), the control's first (deng2022 Table 14)."""

    def show(table: pd.DataFrame) -> pd.DataFrame:
        top = table.head(OUTLIERS_SHOWN)
        return pd.DataFrame(
            {
                "id": top["id"],
                "latent NLL (nats)": top["nll"].map(number),
                "words of the vocabulary": top["known_words"],
                "topics": top["topics"],
                "text": top["text"].map(lambda text: shorten(text, CHARACTERS_SHOWN)),
            }
        )

    return findings.stack("outliers.csv", show, control=True, keep_default_na=False)


def _percent(share: float) -> str:
    return number(100 * share)
