"""What a study by `macroscope human` found, for the report: tables of the folder that `collect` wrote."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from macroscope.reporting.html_blocks import Captions, Shown, html_table, inline_svg
from macroscope.reporting.human import HumanScores
from macroscope.tables import read_csv

MOST_ORGANISATIONS = 10
_TITLES = {
    "agreement": "Do people agree with each other?",
    "repeated": "Do people agree with themselves?",
    "section_types": "Does the classifier see what people see?",
    "training": "How well the section types were learned",
    "times": "How long it took",
    "exclusions": "What does not count, and why",
}


def study_of(judged: HumanScores) -> Path | None:
    """Folder of the study; None where a table of another kind was given."""
    folder = Path(judged.options.table)
    return folder if folder.is_dir() else None


def systems_stem(judged: HumanScores) -> str:
    """Stem of the figure of the systems' means."""
    return f"{judged.stem}_systems"


def study_blocks(judged: HumanScores, figures: Path, captions: Captions) -> Iterator[Shown]:
    """Systems (Table 4 of deng2022), organisations (Table 18), agreement, people against the classifier, exclusions."""
    folder = study_of(judged)
    if folder is None:
        return
    systems = read_systems(folder)
    figure = inline_svg(figures / f"{systems_stem(judged)}.svg")
    caption = captions.html("study_systems")
    table = html_table(display_systems(systems))
    yield Shown(f"{judged.stem}-systems", "What people say of the systems", caption, table, figure)
    organisations = _read(folder, "organisations")
    if organisations is not None and len(organisations):
        caption = captions.html("study_organisations", shown=MOST_ORGANISATIONS, organisations=len(organisations))
        table = html_table(display_organisations(organisations))
        title = "Organisations that people call incoherent"
        yield Shown(f"{judged.stem}-organisations", title, caption, table)
    confusion = _read(folder, "confusion")
    for name, title in _TITLES.items():
        some = _read(folder, name)
        if some is None or some.empty:
            continue
        yield Shown(f"{judged.stem}-{name}", title, captions.html(f"study_{name}"), html_table(_with_intervals(some)))
        if name == "section_types" and confusion is not None and len(confusion):
            table = html_table(display_confusion(confusion))
            caption = captions.html("study_confusion")
            yield Shown(f"{judged.stem}-confusion", "Section types: people against the classifier", caption, table)


def read_systems(folder: Path) -> pd.DataFrame:
    """Mean score of each system, of a folder that `collect` wrote."""
    return read_csv(folder / "systems.csv")


def display_systems(table: pd.DataFrame) -> pd.DataFrame:
    """A row a system, a column a question: mean with its interval; then how many judged (Table 4)."""
    rows: dict[str, dict[str, str]] = {}
    for row in table.to_dict("records"):
        cell = rows.setdefault(row["system"], {"system": row["system"]})
        cell[row["question"]] = _interval(row["mean"], row["ci_low"], row["ci_high"])
        cell |= {name: str(row[name]) for name in ("annotations", "documents", "annotators")}
    shown = pd.DataFrame([*rows.values()])
    counts = ["annotations", "documents", "annotators"]
    return shown[[*(name for name in shown if name not in counts), *counts]].fillna("–")


def display_organisations(table: pd.DataFrame) -> pd.DataFrame:
    """The organisations that most often got the lowest answer, of each question (Table 18)."""
    found = table.groupby("question", sort=False).head(MOST_ORGANISATIONS)
    often = found["lowest"].astype(str) + " of " + found["judged"].astype(str)
    return found.assign(lowest=often)[["question", "organisation", "lowest", "systems"]]


def display_confusion(table: pd.DataFrame) -> pd.DataFrame:
    """A row a type that people chose, a column a type that the classifier saw: counts over all systems."""
    counts = table.pivot_table(index="people", columns="classifier", values="count", aggfunc="sum", fill_value=0)
    kinds = sorted({*counts.index, *counts.columns})
    counts = counts.reindex(index=kinds, columns=kinds, fill_value=0).astype(int)
    return counts.rename_axis(columns=None).rename_axis("people say").reset_index()


def _with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """A value with the interval beside it in one cell, and no columns that say nothing."""
    shown = table.copy()
    if "ci_low" in shown:
        value = shown.columns[list(shown.columns).index("ci_low") - 1]
        columns = (shown[value], shown["ci_low"], shown["ci_high"])
        shown[value] = [_interval(*numbers) for numbers in zip(*columns, strict=True)]
        shown = shown.drop(columns=["ci_low", "ci_high"])
    return shown.drop(columns=[name for name in shown if shown[name].isna().all() or (shown[name] == "").all()])


def _interval(value: float, low: float, high: float) -> str:
    if pd.isna(value):
        return "–"
    return f"{value:.2f}" + ("" if pd.isna(low) else f" [{low:.2f}, {high:.2f}]")


def _read(folder: Path, name: str) -> pd.DataFrame | None:
    path = folder / f"{name}.csv"
    return read_csv(path, keep_default_na=False, na_values=["nan", ""]) if path.exists() else None
