"""Chapter of the coherence critic in the report of a corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.coherence.latents import read_info
from macroscope.critics.coherence.sensitivity import build_prior_table, build_projection_table, find_inflation
from macroscope.critics.divergence_report import divergence_table
from macroscope.critics.findings import Findings, ReportItem
from macroscope.files import read_json
from macroscope.statistics.proportions import share_interval
from macroscope.tables import number, read_csv

COMMON_ERRORS = 5


def items(findings: Findings) -> list[ReportItem]:
    """Return the tables, figures and documents of the chapter, in order."""
    inference = findings.folder / "inference"
    documents = read_csv(inference / "validation_documents.csv")
    validation = add_interval(read_json(inference / "validation.json"), documents, findings.confidence)
    report_items = [
        _classifier_item(findings, validation),
        ReportItem("projection_quality", "Projection quality by system", table=build_projection_table(findings)),
        _prior_item(findings),
        ReportItem(
            "reliability",
            "Calibration of the section classifier",
            figure=findings.figure("reliability").with_suffix(".svg"),
        ),
        ReportItem("projection", "Projected documents", table=_projection_counts(findings)),
        ReportItem(
            "transition_errors", "Most common transition errors", table=_common_errors(findings), shows_texts=True
        ),
    ]
    divergences = divergence_table(findings.statistics)
    if len(divergences):
        title = "Divergences between the section transitions"
        report_items.append(ReportItem("transition_divergences", title, table=divergences))
    for system in findings.candidates:
        title = f"Section transitions of {system} compared with real text"
        figure = findings.evidence(system, "transition_graph.svg")
        report_items.append(
            ReportItem(f"transition_graph_{system}", title, figure=figure, caption="transition_graph", system=system)
        )
    for system in findings.systems:
        worst = read_json(findings.evidence(system, "worst_documents.json"))
        title = f"Least likely documents of {system}"
        report_items.append(
            ReportItem(f"worst_documents_{system}", title, documents=worst, caption="worst_documents", system=system)
        )
    return report_items


def add_interval(validation: dict[str, Any], documents: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Add the interval of the accuracy, over documents, to the classifier's validation results.

    Parameters
    ----------
    documents
        One row per validation document; columns sections, correct.
    """
    _, low, high = share_interval(documents["correct"], documents["sections"], confidence)
    names = list(validation)
    at = names.index("accuracy") + 1
    interval = {"accuracy_low": low, "accuracy_high": high}
    return {name: (validation | interval)[name] for name in [*names[:at], *interval, *names[at:]]}


def check_classifier(validation: dict[str, float]) -> str | None:
    """Return a warning if the accuracy is not significantly above that of always predicting the most common type."""
    if validation["accuracy_low"] > validation["majority_share"]:
        return None
    return (
        f"The section classifier has an accuracy of {validation['accuracy']:.0%} on {validation['sections']:.0f}"
        " validation sections; always predicting the most common type would be right on"
        f" {validation['majority_share']:.0%}. The difference is not significant: do not rely on the numbers of this"
        " critic. More training documents, a larger encoder or more epochs may help."
    )


def _classifier_item(findings: Findings, validation: dict[str, Any]) -> ReportItem:
    warning = check_classifier(validation) or _check_inflation(findings)
    return ReportItem(
        "section_classifier",
        "Section classifier",
        table=pd.DataFrame([validation]),
        warning=warning,
        unusable=warning is not None,
    )


def _check_inflation(findings: Findings) -> str | None:
    perplexities = find_inflation(findings)
    if perplexities is None:
        return None
    return (
        f"The latent PPL of real text is {number(perplexities[0])} by inferred section types, but"
        f" {number(perplexities[1])} by its titles: classification errors outweigh the differences to measure. More"
        " training documents, a larger encoder or more epochs may help."
    )


def _prior_item(findings: Findings) -> ReportItem:
    """Return the table of latent PPL under every prior, with a warning if the smoothing is not identified."""
    choice = read_json(findings.folder / "prior" / "validation.json")
    warning = None
    if choice["at_edge"]:
        warning = (
            "The smoothing of the prior is at the edge of its search range: the training documents do not identify it,"
            " and the latent PPL of systems with unseen transitions depends on it. The table compares other priors."
        )
    return ReportItem("priors", "Sensitivity to the prior", table=build_prior_table(findings), warning=warning)


def _projection_counts(findings: Findings) -> pd.DataFrame:
    rows = [{"system": system, **read_info(findings.latents(system)).counts} for system in findings.systems]
    return pd.DataFrame(rows)


def _common_errors(findings: Findings) -> pd.DataFrame:
    """Tabulate the most common errors of every system (deng2022 Table 12)."""
    columns = ["previous", "next", "count", "frequency", "control_frequency", "prior_probability", "repetition"]
    frames = []
    for system, table in findings.tables("transitions.csv", control=True):
        errors = table[table["error"] & (table["count"] > 0)].head(COMMON_ERRORS)
        repetition = errors["repetition"].map({True: "yes", False: ""})
        frames.append(errors[columns].assign(system=system, repetition=repetition))
    table = pd.concat(frames, ignore_index=True)
    return table[["system", *columns]]
