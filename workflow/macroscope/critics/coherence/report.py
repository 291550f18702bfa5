"""What the coherence critic contributes to the report of one corpus."""

from typing import Any

import pandas as pd

from macroscope.critics.coherence.latents import read_info
from macroscope.critics.divergence_report import divergence_table
from macroscope.critics.findings import Findings, ReportItem
from macroscope.files import read_json
from macroscope.statistics.proportions import wilson_interval

COMMON_ERRORS = 5


def items(findings: Findings) -> list[ReportItem]:
    """List tables, figures and documents."""
    validation = with_interval(read_json(findings.folder / "inference" / "validation.json"), findings.confidence)
    found = [
        ReportItem(
            "section_classifier",
            "Section classifier",
            table=pd.DataFrame([validation]),
            warning=classifier_warning(validation),
        ),
        ReportItem(
            "reliability",
            "Can the section classifier be trusted?",
            figure=findings.figure("reliability").with_suffix(".svg"),
        ),
        ReportItem("projection", "What was projected", table=_projection(findings)),
        ReportItem("transition_errors", "Most common transition errors", table=_errors(findings)),
    ]
    divergences = divergence_table(findings.statistics)
    if len(divergences):
        title = "Divergences between the section transitions"
        found.append(ReportItem("transition_divergences", title, table=divergences))
    for system in findings.candidates:
        title = f"Section transitions of {system} against real text"
        figure = findings.evidence(system, "transition_graph.svg")
        found.append(ReportItem(f"transition_graph_{system}", title, figure=figure, caption="transition_graph"))
    for system in findings.systems:
        worst = read_json(findings.evidence(system, "worst_documents.json"))
        title = f"Most unlikely documents of {system}"
        found.append(ReportItem(f"worst_documents_{system}", title, documents=worst, caption="worst_documents"))
    return found


def with_interval(validation: dict[str, Any], confidence: float) -> dict[str, Any]:
    """What the classifier's validation found, with Wilson's interval of the accuracy."""
    low, high = wilson_interval(validation["correct"], validation["sections"], confidence)
    interval = {"accuracy_low": float(low), "accuracy_high": float(high)}
    rest = {name: value for name, value in validation.items() if name != "correct"}
    names = list(rest)
    at = names.index("accuracy") + 1
    return {name: (rest | interval)[name] for name in [*names[:at], *interval, *names[at:]]}


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
