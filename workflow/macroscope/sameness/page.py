"""The page of sameness, with its figures and tables, in a folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

from macroscope.colours import BLUE, COLOURS, GREY
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, require_folder
from macroscope.plotting import (
    LONGEST_LABEL,
    REAL_TEXT_BAND,
    SUFFIXES,
    add_legend,
    interval_bars,
    label_rows,
    save,
    shorten,
    style,
    title_panel,
)
from macroscope.reporting.pages import html_table, inline_svg, render_page
from macroscope.reporting.scorecard import mark_names
from macroscope.sameness.diversity import ACROSS_SYSTEMS, Diversity
from macroscope.sameness.measure import CONFIDENCE, REFERENCE, Sameness
from macroscope.sameness.phrases import SIGNIFICANT
from macroscope.sameness.texts import MOST_PROMPTS
from macroscope.statistics.diversity import DISTINCT
from macroscope.statistics.similarity import BETWEEN_EXCESS, OTHER_PROMPTS, PROMPT_EFFECT, SAME_PROMPT, SELF_EXCESS
from macroscope.tables import write_csv

Array = NDArray[np.float64]
COLUMNS = 3
_MOST_NUMBERS = 10
"""Largest number of systems whose matrix has its numbers in the cells."""


def plot_estimates(
    table: pd.DataFrame, systems: Sequence[str], views: Sequence[str], real: pd.DataFrame | None, zero: str = ""
) -> Figure:
    """Plot a value with its interval per system: a panel per view.

    Parameters
    ----------
    table
        Columns system, view, value, ci_low, ci_high.
    systems
        Systems from top to bottom.
    real
        The same columns of real texts, whose intervals are bands; None for none.
    zero
        Label of a line at zero; "" for none.
    """
    rows = -(-len(views) // COLUMNS)
    height = 0.9 + 0.22 * len(systems)
    with style():
        figure, grid = plt.subplots(
            rows, min(COLUMNS, len(views)), sharey=True, squeeze=False, figsize=(10.5, rows * height)
        )
        for axes in grid.flat[len(views) :]:
            axes.set_visible(False)
        for axes, view in zip(grid.flat, views, strict=False):
            if real is not None:
                for row in real[real["view"] == view].itertuples():
                    axes.axvspan(row.ci_low, row.ci_high, **REAL_TEXT_BAND, label="real texts")
            _plot_points(axes, table[table["view"] == view].set_index("system"), systems)
            if zero:
                axes.axvline(0, color=GREY, lw=1, label=zero)
            label_rows(axes, systems)
            title_panel(axes, view.replace("_", " "))
            axes.locator_params(axis="x", nbins=5)
        add_legend(figure)
    return figure


def plot_matrix(values: Array, distances: Array, systems: Sequence[str], label: str) -> Figure:
    """Plot a matrix of systems, similar ones together, with the tree of their distances.

    Parameters
    ----------
    values
        Systems x systems; NaN for missing ones.
    distances
        Squared distances of the systems, for the order and the tree.
    label
        Name of the values.
    """
    tree, order = _make_tree(distances)
    names = [systems[k] for k in order]
    size = len(names)
    with style():
        figure, (axes, beside) = plt.subplots(
            1, 2, figsize=(4.2 + 0.3 * size, 2.0 + 0.27 * size), width_ratios=(size + 2, 3 + size / 8)
        )
        shown = values[np.ix_(order, order)]
        colours = plt.get_cmap("cividis").with_extremes(bad="#EFEFEF")
        image = axes.imshow(np.ma.masked_invalid(shown), cmap=colours, aspect="auto")
        if size <= _MOST_NUMBERS:
            _write_cells(axes, shown)
        axes.set_xticks(range(size), shorten(names, LONGEST_LABEL), rotation=90, fontsize=8)
        axes.set_yticks(range(size), shorten(names, LONGEST_LABEL), fontsize=8)
        axes.grid(False)
        axes.tick_params(length=0)
        _plot_tree(beside, tree, size)
        figure.colorbar(image, ax=beside, label=label, shrink=0.8)
    return figure


def _plot_points(axes: Axes, rows: pd.DataFrame, systems: Sequence[str]) -> None:
    rows = rows.reindex(systems)
    bars = interval_bars(rows["value"], rows["ci_low"], rows["ci_high"])
    axes.errorbar(rows["value"], np.arange(len(systems)), xerr=bars, fmt="o", color=BLUE, ms=4, lw=1.2, label="system")


def plot_growth(table: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """Plot a number of k texts with its interval by k: a panel per scope, a line per system.

    Parameters
    ----------
    table
        Columns scope, system, k, value, ci_low, ci_high.
    labels
        Titles of the scopes.
    """
    scopes = table["scope"].unique()
    with style():
        figure, grid = plt.subplots(1, len(scopes), squeeze=False, figsize=(1.2 + 3.1 * len(scopes), 3.2))
        for axes, scope in zip(grid.flat, scopes, strict=True):
            rows = table[table["scope"] == scope]
            most = rows["k"].max()
            axes.plot([1, most], [1, most], color=GREY, lw=1, ls=":", label="all different")
            for system, line in rows.groupby("system", sort=False):
                colour = GREY if system == REFERENCE else COLOURS[list(table["system"].unique()).index(system) % 7]
                axes.plot([1, *line["k"]], [1, *line["value"]], color=colour, marker="o", ms=3, label=system)
                axes.fill_between(line["k"], line["ci_low"], line["ci_high"], color=colour, alpha=0.15, lw=0)
            title_panel(axes, labels[scope])
            axes.set_xlabel("k texts")
            axes.set_ylabel("different texts")
        add_legend(figure)
    return figure


def _make_tree(distances: Array) -> tuple[Array, list[int]]:
    """Return the tree of the systems (average linkage), with near leaves beside each other, and their order."""
    condensed = squareform(np.sqrt(np.maximum(distances, 0)), checks=False)
    tree = linkage(condensed, "average", optimal_ordering=True)
    return tree, dendrogram(tree, no_plot=True)["leaves"]


def _plot_tree(axes: Axes, tree: Array, size: int) -> None:
    drawn = dendrogram(tree, no_plot=True)
    for places, heights in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        axes.plot(heights, (np.array(places) - 5) / 10, color=GREY, lw=1.2)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_axis_off()


def _write_cells(axes: Axes, values: Array) -> None:
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        if not np.isnan(value):
            colour = "black" if value > middle else "white"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=8, color=colour)


PAGE, TABLE, DIVERSITY, PHRASES = "index.html", "similarity.csv", "diversity.csv", "phrases.csv"
SHOWN_PHRASES = 20
"""Number of phrases of each kind of a system that the page shows."""
_DIFFERENCES = {
    "repeat themselves more": (SELF_EXCESS, 1),
    "less": (SELF_EXCESS, -1),
    "nearer to other systems": (BETWEEN_EXCESS, 1),
    "nearer to real text": (BETWEEN_EXCESS, -1),
}
"""Difference from real text -> its statistic and sign."""
_SCOPES = {
    SAME_PROMPT: "of one prompt",
    OTHER_PROMPTS: "of different prompts",
    ACROSS_SYSTEMS: "of different systems on one prompt",
}
_MOST_SENTENCES = 10
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
    others = [name for name in names - {PAGE, TABLE, DIVERSITY, PHRASES} if not name.endswith(tuple(SUFFIXES))]
    if names and (others or not {PAGE, TABLE, PHRASES} <= names):
        raise MacroscopeError(f"{folder}: holds other files; give another folder")


def write_page(sameness: Sameness, output: Path) -> None:
    """Write the page, its figures, `similarity.csv` and `phrases.csv` into a folder, which replaces an earlier one."""
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(sameness.table, folder / TABLE)
        write_csv(sameness.diversity.table, folder / DIVERSITY)
        write_csv(sameness.phrases, folder / PHRASES)
        figures = dict(_save_figures(sameness, folder))
        common, differing = list_common_phrases(sameness.phrases), list_differing(sameness)
        page = render_page(
            "sameness",
            systems=_systems(sameness),
            views=sameness.views,
            summary=html_table(summarize(differing)) if sameness.has_real else "",
            differing=mark_differing(sameness, differing).to_dict("records"),
            common="" if common.empty else html_table(common),
            diversity=[(caption, html_table(table)) for caption, table in summarize_diversity(sameness.diversity)],
            diverse=describe_diversity(sameness.diversity),
            figures=figures,
            matrices=_MATRICES,
            phrases=_phrases(sameness),
            threshold=sameness.diversity.threshold,
            calibration=sameness.diversity.calibration,
            texts=_texts(sameness),
            has_real=sameness.has_real,
            warnings=sameness.given_away_by,
            words=sameness.words,
            shown=SHOWN_PHRASES,
            most_prompts=MOST_PROMPTS,
            confidence=f"{100 * CONFIDENCE:g}",
        )
        (folder / PAGE).write_text(page, encoding="utf-8")


def list_differing(sameness: Sameness) -> pd.DataFrame:
    """List the systems that differ from real text beyond chance (adjusted p-values): columns view, difference, systems.

    `systems` are the names in each row, perhaps none; there are no rows without real text.
    """
    excess = sameness.table[(sameness.table["other"] == "") & (sameness.table["p_adjusted"] <= SIGNIFICANT)]
    measured = set(sameness.table["statistic"])
    rows = [
        (
            view.name.replace("_", " "),
            difference,
            excess[is_view & (excess["statistic"] == name) & (sign * excess["value"] > 0)]["system"],
        )
        for view in sameness.views
        for is_view in [excess["view"] == view.name]
        for difference, (name, sign) in _DIFFERENCES.items()
        if name in measured
    ]
    return pd.DataFrame([(*row, list(systems)) for *row, systems in rows], columns=["view", "difference", "systems"])


def mark_differing(sameness: Sameness, differing: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `list_differing` for people: systems that more gives away have a warning sign."""
    return differing.assign(systems=[mark_names(names, sameness.given_away_by) for names in differing["systems"]])


def summarize(differing: pd.DataFrame) -> pd.DataFrame:
    """Count the systems of `list_differing`: a row per view, a column per difference."""
    counts = differing.assign(systems=differing["systems"].map(len))
    table = counts.pivot(index="view", columns="difference", values="systems")
    return table.reindex(differing["view"].unique())[list(differing["difference"].unique())].reset_index()


def list_first_phrases(sameness: Sameness) -> pd.DataFrame:
    """List the most frequent opening and phrase of each system: columns system, kind, phrase, texts, of, real."""
    first = sameness.phrases.groupby(["system", "kind"], sort=False).head(1)
    numbers = {each.name: len(each.documents) for each in sameness.texts}
    table = first.assign(of=first["system"].map(numbers)).sort_values("share", ascending=False, kind="stable")
    columns = ["system", "kind", "phrase", "texts", "of", *(["real_prompts"] if sameness.has_real else [])]
    return table[columns].rename(columns={"real_prompts": "real"})


def list_common_phrases(phrases: pd.DataFrame) -> pd.DataFrame:
    """List the phrases that several systems repeat, those of the most systems first."""
    grouped = phrases.groupby(["kind", "phrase"], sort=False)
    table = grouped.agg(systems=("system", "nunique"), prompts=("prompts", "sum"), place=("place", _join_places))
    table = table[table["systems"] > 1].reset_index()
    return table.sort_values(["systems", "prompts"], ascending=False, kind="stable").head(SHOWN_PHRASES)


def _join_places(places: pd.Series) -> str:
    return ", ".join(places.value_counts().index)


def summarize_diversity(diversity: Diversity) -> list[tuple[str, pd.DataFrame]]:
    """Summarize the diversity at the largest k that all collections of a scope have: captions and tables."""
    table = diversity.table[diversity.table["system"] == diversity.table["other"]]
    summary = []
    for (quality, scope), rows in table.groupby(["quality", "scope"], sort=False, dropna=False):
        k = int(rows.groupby("system")["k"].max().min())
        rows = rows[rows["k"] == k]
        cells = [_write_estimate(*row) for row in rows[["value", "ci_low", "ci_high"]].itertuples(index=False)]
        shown = rows.assign(cell=cells).pivot_table(
            index="system", columns="statistic", values="cell", aggfunc="first", sort=False
        )
        good = "" if np.isnan(quality) else f", of those with a score of {quality:g} or more"
        summary.append((f"Among {k} texts {_SCOPES[scope]}{good}:", shown.rename_axis(columns=None).reset_index()))
    return summary


def describe_diversity(diversity: Diversity) -> list[str]:
    """Describe the significant differences of the number of different texts, those from real text first."""
    table = diversity.table
    is_shown = table["statistic"].str.startswith(DISTINCT) & (table["p_adjusted"] <= SIGNIFICANT)
    sentences = []
    for row in table[is_shown].sort_values("other", key=lambda names: names != REFERENCE, kind="stable").itertuples():
        less, more = (row.system, row.other) if row.value < 0 else (row.other, row.system)
        texts = f"{row.k} {'' if np.isnan(row.quality) else 'good '}texts {_SCOPES[row.scope]}"
        difference = f"{abs(row.value):.2g} fewer different texts than {more}"
        sentences.append(f"{less} has {difference} among {texts} (p = {row.p_adjusted:.2g})")
    return sentences[:_MOST_SENTENCES]


def _write_estimate(value: float, low: float, high: float) -> str:
    return f"{value:.3g}" if np.isnan(low) else f"{value:.3g} [{low:.3g}, {high:.3g}]"


def _systems(sameness: Sameness) -> list[str]:
    return [name for name in sameness.systems if name != REFERENCE]


def _save_figures(sameness: Sameness, folder: Path) -> Iterator[tuple[str, str]]:
    """Save the figures; yield the name and the SVG of each."""
    table, systems, views = sameness.table, _systems(sameness), [view.name for view in sameness.views]
    within = table[(table["system"] == table["other"]) & (table["statistic"] == OTHER_PROMPTS)]
    real = within[within["system"] == REFERENCE] if sameness.has_real else None
    figures = {"within": plot_estimates(within, systems, views, real)} if len(within) else {}
    if (growth := _growth(sameness.diversity.table)) is not None:
        figures["growth"] = growth
    between = table[table["statistic"] == BETWEEN_EXCESS]
    if len(between):
        figures["between"] = plot_estimates(between, systems, views, None, "as similar as to the real text")
    for view, similarities in sameness.similarities.items() if len(sameness.systems) > 1 else ():
        across, same = similarities.other_prompts[0], similarities.same_prompt[0]
        figures[f"{OTHER_PROMPTS}_{view}"] = plot_matrix(across, similarities.distances, sameness.systems, "similarity")
        if similarities.shared.any():
            effect = same - across
            figures[f"{PROMPT_EFFECT}_{view}"] = plot_matrix(
                effect, similarities.distances, sameness.systems, "added similarity"
            )
    for name, figure in figures.items():
        save(figure, folder / name)
        yield name, inline_svg(folder / f"{name}.svg")


def _growth(table: pd.DataFrame) -> Figure | None:
    """Plot the growth of the number of different texts; None without, or with too many systems."""
    rows = table[(table["statistic"] == DISTINCT) & table["quality"].isna()]
    return plot_growth(rows, _SCOPES) if 0 < rows["system"].nunique() <= _MOST_NUMBERS else None


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
