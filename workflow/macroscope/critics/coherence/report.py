"""What the coherence critic contributes to the report of one corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.coherence.latents import read_info
from macroscope.critics.coherence.sensitivity import inflation, prior_table, projection_table
from macroscope.critics.divergence_report import divergence_table
from macroscope.critics.findings import Findings, ReportItem
from macroscope.files import read_json
from macroscope.statistics.proportions import share_interval
from macroscope.tables import number, read_csv

COMMON_ERRORS = 5


def items(findings: Findings) -> list[ReportItem]:
    """List tables, figures and documents."""
    inference = findings.folder / "inference"
    documents = read_csv(inference / "validation_documents.csv")
    validation = with_interval(read_json(inference / "validation.json"), documents, findings.confidence)
    found = [
        _classifier_item(findings, validation),
        ReportItem(
            "projection_quality", "How well the projection works on each system", table=projection_table(findings)
        ),
        _prior_item(findings),
        ReportItem(
            "reliability",
            "Can the section classifier be trusted?",
            figure=findings.figure("reliability").with_suffix(".svg"),
        ),
        ReportItem("projection", "What was projected", table=_projection(findings)),
        ReportItem("transition_errors", "Most common transition errors", table=_errors(findings), shows_texts=True),
    ]
    divergences = divergence_table(findings.statistics)
    if len(divergences):
        title = "Divergences between the section transitions"
        found.append(ReportItem("transition_divergences", title, table=divergences))
    for system in findings.candidates:
        title = f"Section transitions of {system} against real text"
        figure = findings.evidence(system, "transition_graph.svg")
        found.append(
            ReportItem(f"transition_graph_{system}", title, figure=figure, caption="transition_graph", system=system)
        )
    for system in findings.systems:
        worst = read_json(findings.evidence(system, "worst_documents.json"))
        title = f"Most unlikely documents of {system}"
        found.append(
            ReportItem(f"worst_documents_{system}", title, documents=worst, caption="worst_documents", system=system)
        )
    return found


def with_interval(validation: dict[str, Any], documents: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """What the classifier's validation found, with the interval of the accuracy over documents.

    Parameters
    ----------
    documents
        Columns sections, correct: a row a validation document.
    """
    _, low, high = share_interval(documents["correct"], documents["sections"], confidence)
    names = list(validation)
    at = names.index("accuracy") + 1
    interval = {"accuracy_low": low, "accuracy_high": high}
    return {name: (validation | interval)[name] for name in [*names[:at], *interval, *names[at:]]}


def classifier_warning(validation: dict[str, float]) -> str | None:
    """Say that the classifier is of no use where its accuracy may be that of always naming the most common type."""
    if validation["accuracy_low"] > validation["majority_share"]:
        return None
    return (
        f"The section classifier is right on {validation['accuracy']:.0%} of {validation['sections']:.0f} validation"
        f" sections; always naming the most common type would be right on {validation['majority_share']:.0%}. It has"
        " not been shown to know the section types: do not rely on the numbers of this critic. More training documents,"
        " a larger encoder or more epochs may help."
    )


def _classifier_item(findings: Findings, validation: dict[str, Any]) -> ReportItem:
    warning = classifier_warning(validation) or _inflation_warning(findings)
    return ReportItem(
        "section_classifier",
        "Section classifier",
        table=pd.DataFrame([validation]),
        warning=warning,
        unusable=warning is not None,
    )


def _inflation_warning(findings: Findings) -> str | None:
    found = inflation(findings)
    if found is None:
        return None
    return (
        f"By its titles real text has a latent PPL of {number(found[1])}, by what the section classifier makes of its"
        f" texts {number(found[0])}: the classifier's mistakes weigh more than what is to be measured. More training"
        " documents, a larger encoder or more epochs may help."
    )


def _prior_item(findings: Findings) -> ReportItem:
    """What every prior gives; a warning where the documents do not tell the smoothing."""
    choice = read_json(findings.folder / "prior" / "validation.json")
    warning = None
    if choice["at_edge"]:
        warning = (
            "The smoothing of the prior is at the edge of what was tried: the training documents do not tell it, and"
            " numbers of systems that make unseen transitions hang on it. The table shows what other priors give."
        )
    return ReportItem("priors", "What the prior changes", table=prior_table(findings), warning=warning)


def _projection(findings: Findings) -> pd.DataFrame:
    rows = [{"system": system, **read_info(findings.latents(system)).counts} for system in findings.systems]
    return pd.DataFrame(rows)


def _errors(findings: Findings) -> pd.DataFrame:
    """The most common errors of every system (deng2022 Table 12)."""
    columns = ["previous", "next", "count", "frequency", "control_frequency", "prior_probability", "repetition"]
    frames = []
    for system, table in findings.tables("transitions.csv", control=True):
        errors = table[table["error"] & (table["count"] > 0)].head(COMMON_ERRORS)
        repetition = errors["repetition"].map({True: "yes", False: ""})
        frames.append(errors[columns].assign(system=system, repetition=repetition))
    table = pd.concat(frames, ignore_index=True)
    return table[["system", *columns]]
