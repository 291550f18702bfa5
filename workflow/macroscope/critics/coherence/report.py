"""What the coherence critic contributes to the report of one corpus."""

from pathlib import Path

import pandas as pd

from macroscope.critics.critic import ReportItem
from macroscope.critics.divergence_report import divergence_table
from macroscope.files import read_json

COMMON_ERRORS = 5


def items(folder: Path, systems: list[str], statistics: pd.DataFrame) -> list[ReportItem]:
    """List tables, figures and documents.

    Parameters
    ----------
    folder
        critics/coherence/<corpus> of the run.
    systems
        Systems that were judged, in the order of the report.
    statistics
        Their numbers, with p_adjusted.
    """
    validation = read_json(folder / "inference" / "validation.json")
    evidence = {system: folder / "evidence" / system for system in systems}
    found = [
        ReportItem(
            "section_classifier",
            "Section classifier",
            "section_classifier",
            table=pd.DataFrame([validation]),
            warning=classifier_warning(validation),
        ),
        ReportItem(
            "reliability",
            "Can the section classifier be trusted?",
            "reliability",
            figure=folder / "inference" / "reliability.svg",
        ),
        ReportItem("projection", "What was projected", "projection", table=_projection(folder, systems)),
        ReportItem("transition_errors", "Most common transition errors", "transition_errors", table=_errors(evidence)),
    ]
    divergences = divergence_table(statistics)
    if len(divergences):
        name = "transition_divergences"
        found.append(ReportItem(name, "Divergences between the section transitions", name, table=divergences))
    for system, path in evidence.items():
        if system != "control":
            title = f"Section transitions of {system} against real text"
            figure = path / "transition_graph.svg"
            found.append(ReportItem(f"transition_graph_{system}", title, "transition_graph", figure=figure))
    for system, path in evidence.items():
        found.append(
            ReportItem(
                f"worst_documents_{system}",
                f"Most unlikely documents of {system}",
                "worst_documents",
                documents=read_json(path / "worst_documents.json"),
            )
        )
    return found


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


def _projection(folder: Path, systems: list[str]) -> pd.DataFrame:
    from macroscope.critics.coherence.latents import read_info

    rows = [{"system": s, **read_info(folder / "latents" / f"{s}.parquet").counts} for s in systems]
    return pd.DataFrame(rows)


def _errors(evidence: dict[str, Path]) -> pd.DataFrame:
    """The most common errors of every system (deng2022 Table 12)."""
    columns = ["previous", "next", "count", "frequency", "control_frequency", "prior_probability", "repetition"]
    frames = []
    for system, path in evidence.items():
        table = pd.read_csv(path / "transitions.csv")
        errors = table[table["error"] & (table["count"] > 0)].head(COMMON_ERRORS)
        repetition = errors["repetition"].map({True: "yes", False: ""})
        frames.append(errors[columns].assign(system=system, repetition=repetition))
    table = pd.concat(frames, ignore_index=True)
    return table[["system", *columns]]
