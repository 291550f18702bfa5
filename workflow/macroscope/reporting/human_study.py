"""Report blocks of a study by `macroscope human`, from the tables that `collect` wrote."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from macroscope.reporting.formats import format_two_decimals
from macroscope.reporting.html_blocks import Block, Captions
from macroscope.reporting.human_systems import HumanScores
from macroscope.reporting.pages import html_table, inline_svg
from macroscope.tables import read_csv

MOST_ORGANISATIONS = 10
_TITLES = {
    "agreement": "Do people agree with each other?",
    "repeated": "Do people agree with themselves?",
    "section_types": "Does the classifier agree with people?",
    "training": "Training: section types",
    "times": "Time per text",
    "exclusions": "Excluded answers and reasons",
}


def study_folder(human_scores: HumanScores) -> Path | None:
    """Return the folder of the study; None if the entry is a table of another kind."""
    folder = Path(human_scores.options.table)
    return folder if folder.is_dir() else None


def systems_stem(human_scores: HumanScores) -> str:
    return f"{human_scores.stem}_systems"


def study_blocks(human_scores: HumanScores, figures: Path, captions: Captions) -> Iterator[Block]:
    """Yield blocks: systems (deng2022 Table 4), organisations (Table 18), agreement, classifier, exclusions."""
    folder = study_folder(human_scores)
    if folder is None:
        return
    systems = read_systems(folder)
    figure = inline_svg(figures / f"{systems_stem(human_scores)}.svg")
    caption = captions.html("study_systems")
    table = html_table(display_systems(systems))
    yield Block(f"{human_scores.stem}-systems", "Scores of the systems by people", caption, table, figure)
    organisations = _read(folder, "organisations")
    if organisations is not None and len(organisations):
        caption = captions.html("study_organisations", shown=MOST_ORGANISATIONS, organisations=len(organisations))
        table = html_table(display_organisations(organisations))
        title = "Organisations with the lowest answer"
        yield Block(f"{human_scores.stem}-organisations", title, caption, table)
    confusion = _read(folder, "confusion")
    for name, title in _TITLES.items():
        content = _read(folder, name)
        if content is None or content.empty:
            continue
        yield Block(
            f"{human_scores.stem}-{name}", title, captions.html(f"study_{name}"), html_table(_with_intervals(content))
        )
        if name == "section_types" and confusion is not None and len(confusion):
            table = html_table(display_confusion(confusion))
            caption = captions.html("study_confusion")
            yield Block(
                f"{human_scores.stem}-confusion",
                "Confusion matrix of section types: people and classifier",
                caption,
                table,
            )


def read_systems(folder: Path) -> pd.DataFrame:
    return read_csv(folder / "systems.csv")


def display_systems(table: pd.DataFrame) -> pd.DataFrame:
    """Format a row per system and a column per question: mean with interval, then counts (Table 4)."""
    rows: dict[str, dict[str, str]] = {}
    for row in table.to_dict("records"):
        cell = rows.setdefault(row["system"], {"system": row["system"]})
        cell[row["question"]] = format_two_decimals(row["mean"], row["ci_low"], row["ci_high"])
        cell |= {name: str(row[name]) for name in ("annotations", "documents", "annotators")}
    shown = pd.DataFrame([*rows.values()])
    counts = ["annotations", "documents", "annotators"]
    return shown[[*(name for name in shown if name not in counts), *counts]].fillna("–")


def display_organisations(table: pd.DataFrame) -> pd.DataFrame:
    """Format the organisations that most often got the lowest answer to each question (Table 18)."""
    top = table.groupby("question", sort=False).head(MOST_ORGANISATIONS)
    counts = top["lowest"].astype(str) + " of " + top["judged"].astype(str)
    return top.assign(lowest=counts)[["question", "organisation", "lowest", "systems"]]


def display_confusion(table: pd.DataFrame) -> pd.DataFrame:
    """Format the confusion counts over all systems: a row per type by people, a column per type by the classifier."""
    counts = table.pivot_table(index="people", columns="classifier", values="count", aggfunc="sum", fill_value=0)
    kinds = sorted({*counts.index, *counts.columns})
    counts = counts.reindex(index=kinds, columns=kinds, fill_value=0).astype(int)
    return counts.rename_axis(columns=None).rename_axis("people say").reset_index()


def _with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Merge a value and its interval into one cell, and drop empty columns."""
    shown = table.copy()
    if "ci_low" in shown:
        value = shown.columns[list(shown.columns).index("ci_low") - 1]
        columns = (shown[value], shown["ci_low"], shown["ci_high"])
        shown[value] = [format_two_decimals(*numbers) for numbers in zip(*columns, strict=True)]
        shown = shown.drop(columns=["ci_low", "ci_high"])
    return shown.drop(columns=[name for name in shown if shown[name].isna().all() or (shown[name] == "").all()])


def _read(folder: Path, name: str) -> pd.DataFrame | None:
    path = folder / f"{name}.csv"
    return read_csv(path, keep_default_na=False, na_values=["nan", ""]) if path.exists() else None
