"""The page of sameness, with its figures and tables, in a folder."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from macroscope import __version__
from macroscope.errors import MacroscopeError
from macroscope.files import CAPTIONS, atomic, require_folder
from macroscope.plotting import SUFFIXES, save
from macroscope.reporting.html_blocks import html_table, inline_svg
from macroscope.sameness.figures import plot_estimates, plot_matrix
from macroscope.sameness.measure import CONFIDENCE, REFERENCE, Sameness
from macroscope.sameness.phrases import SIGNIFICANT
from macroscope.sameness.texts import MOST_PROMPTS
from macroscope.statistics.similarity import BETWEEN_EXCESS, OTHER_PROMPTS, PROMPT_EFFECT, SAME_PROMPT, SELF_EXCESS
from macroscope.tables import write_csv

PAGE, TABLE, PHRASES = "index.html", "similarity.csv", "phrases.csv"
SHOWN_PHRASES = 20
"""Number of phrases of each kind of a system that the page shows."""
_MATRICES = {
    OTHER_PROMPTS: "on different prompts",
    PROMPT_EFFECT: "what the same prompt adds",
}


def require_replaceable_folder(folder: Path) -> None:
    """Check that a folder is absent, empty, or of this command.

    Raises
    ------
    MacroscopeError
        If it holds other files.
    """
    require_folder(folder)
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    others = [name for name in names - {PAGE, TABLE, PHRASES} if not name.endswith(tuple(SUFFIXES))]
    if names and (others or not {PAGE, TABLE, PHRASES} <= names):
        raise MacroscopeError(f"{folder}: holds other files; give another folder")


def write_page(sameness: Sameness, output: Path) -> None:
    """Write the page, its figures, `similarity.csv` and `phrases.csv` into a folder, which replaces an earlier one."""
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(sameness.table, folder / TABLE)
        write_csv(sameness.phrases, folder / PHRASES)
        figures = dict(_save_figures(sameness, folder))
        common = list_common_phrases(sameness.phrases)
        environment = Environment(
            loader=FileSystemLoader(CAPTIONS),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        page = environment.get_template("sameness.html.jinja").render(
            systems=_systems(sameness),
            views=sameness.views,
            summary=html_table(summarize(sameness)) if sameness.has_real else "",
            common="" if common.empty else html_table(common),
            figures=figures,
            matrices=_MATRICES,
            phrases=_phrases(sameness),
            texts=_texts(sameness),
            has_real=sameness.has_real,
            words=sameness.table["signature"].iloc[0].partition("words:")[2].partition("|")[0],
            shown=SHOWN_PHRASES,
            most_prompts=MOST_PROMPTS,
            confidence=f"{100 * CONFIDENCE:g}",
            version=__version__,
        )
        (folder / PAGE).write_text(page, encoding="utf-8")


def summarize(sameness: Sameness) -> pd.DataFrame:
    """Count the systems that differ from real text (adjusted p-values), by view; empty without real text."""
    rows = []
    for view in sameness.views if sameness.has_real else ():
        of_view = sameness.table[(sameness.table["view"] == view.name) & (sameness.table["other"] == "")]
        of_itself, between = (of_view[of_view["statistic"] == name] for name in (SELF_EXCESS, BETWEEN_EXCESS))
        counts = [
            _count(of_itself),
            _count(of_itself, -1),
            *([_count(between), _count(between, -1)] if len(between) else []),
        ]
        rows.append([view.name, *counts])
    names = ["view", "repeat themselves more", "less", "nearer to other systems", "nearer to real text"]
    return pd.DataFrame(rows, columns=names[: len(rows[0])] if rows else names)


def list_common_phrases(phrases: pd.DataFrame) -> pd.DataFrame:
    """List the phrases that several systems repeat, those of the most systems first."""
    grouped = phrases.groupby(["kind", "phrase"], sort=False)
    table = grouped.agg(systems=("system", "nunique"), prompts=("prompts", "sum"), place=("place", _join_places))
    table = table[table["systems"] > 1].reset_index()
    return table.sort_values(["systems", "prompts"], ascending=False, kind="stable").head(SHOWN_PHRASES)


def _join_places(places: pd.Series) -> str:
    return ", ".join(places.value_counts().index)


def _count(rows: pd.DataFrame, sign: int = 1) -> int:
    return int(((sign * rows["value"] > 0) & (rows["p_adjusted"] <= SIGNIFICANT)).sum())


def _systems(sameness: Sameness) -> list[str]:
    return [name for name in sameness.systems if name != REFERENCE]


def _save_figures(sameness: Sameness, folder: Path) -> Iterator[tuple[str, str]]:
    """Save the figures; yield the name and the SVG of each."""
    table, systems, views = sameness.table, _systems(sameness), [view.name for view in sameness.views]
    within = table[(table["system"] == table["other"]) & (table["statistic"] == OTHER_PROMPTS)]
    real = within[within["system"] == REFERENCE] if sameness.has_real else None
    figures = {"within": plot_estimates(within, systems, views, real)}
    between = table[table["statistic"] == BETWEEN_EXCESS]
    if len(between):
        figures["between"] = plot_estimates(between, systems, views, None, "as similar as to the real text")
    for view, similarities in sameness.similarities.items() if len(sameness.systems) > 1 else ():
        other, same = similarities.other_prompts[0], similarities.same_prompt[0]
        figures[f"{OTHER_PROMPTS}_{view}"] = plot_matrix(other, similarities.distances, sameness.systems, "similarity")
        if similarities.shared.any():
            effect = same - other
            figures[f"{PROMPT_EFFECT}_{view}"] = plot_matrix(
                effect, similarities.distances, sameness.systems, "added similarity"
            )
    for name, figure in figures.items():
        save(figure, folder / name)
        yield name, inline_svg(folder / f"{name}.svg")


def _phrases(sameness: Sameness) -> dict[str, dict[str, object]]:
    """Return the tables of phrases in HTML and their numbers, by system."""
    shown = ["kind", "phrase", "prompts", *(["real_prompts"] if sameness.has_real else []), "texts", "place"]
    tables = {}
    for system in _systems(sameness):
        rows = sameness.phrases[sameness.phrases["system"] == system]
        parts = rows.groupby("kind").head(SHOWN_PHRASES)
        tables[system] = {
            "table": html_table(parts[shown]) if len(rows) else "",
            "numbers": {kind: int((rows["kind"] == kind).sum()) for kind in ("opening", "phrase")},
            "tests": sameness.tests[system],
        }
    return tables


def _texts(sameness: Sameness) -> str:
    """Return a table of the texts that count and those that do not, in HTML."""
    within = sameness.table[sameness.table["system"] == sameness.table["other"]]
    rows = []
    for texts in sameness.texts:
        same = within[(within["system"] == texts.name) & (within["statistic"] == SAME_PROMPT)]
        rows.append(
            {
                "system": texts.name,
                "texts": len(texts.documents),
                "prompts": len(set(texts.prompts.tolist())),
                "prompts with several texts": int(same["shared"].max()) if len(same) else 0,
                "too short": texts.short,
                "beyond the largest number": texts.unused,
            }
        )
    return html_table(pd.DataFrame(rows))
