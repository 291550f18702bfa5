"""Figures of a run: headline numbers with intervals, word against latent perplexity, training curves."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from macroscope.colours import BLUE, GREEN, GREY, PURPLE, VERMILION
from macroscope.critics import get_critic
from macroscope.critics.findings import Findings
from macroscope.errors import blame_plugins
from macroscope.files import atomic
from macroscope.gaps import Gap, write_missing
from macroscope.options import CONTROL, is_matched
from macroscope.plotting import (
    LONGEST_LABEL,
    REAL_TEXT_BAND,
    add_legend,
    formats,
    interval_bars,
    label_rows,
    save,
    shorten,
    style,
    take_missing_glyphs,
    title_panel,
)
from macroscope.reporting.correlation_figures import plot_correlations, plot_probabilities, plot_system_scores
from macroscope.reporting.course import course_figure, course_table
from macroscope.reporting.course_figure import plot_courses
from macroscope.reporting.critic_stages import plot_overview, read_findings
from macroscope.reporting.headline import latent_measure, read_headline
from macroscope.reporting.human_study import read_systems, study_folder, systems_stem
from macroscope.reporting.human_systems import (
    quality_measures,
    read_correlations,
    read_human_scores,
    select_correlations,
    select_measures,
)
from macroscope.runs.results import Results, read_statistics
from macroscope.systems import kinds
from macroscope.tables import read_if_any

log = logging.getLogger("macroscope")
Task = Callable[[], list[Gap] | None]
"""A function that saves figures, and returns what failed and is left out."""

_tasks: Sequence[Task] = ()


def run_tasks(tasks: Sequence[Task], processes: int) -> tuple[set[str], list[Gap]]:
    """Run tasks that save figures in parallel; the first failure ends the run.

    Worker processes are forked, so tasks need not be picklable. Without fork, the tasks run sequentially.

    Parameters
    ----------
    tasks
        Functions without arguments.
    processes
        Maximum number of processes.

    Returns
    -------
    set of characters, list of Gap
        Characters of the figures' texts that no installed font has, and what the tasks returned.
    """
    if min(processes, len(tasks)) < 2 or "fork" not in get_all_start_methods():
        failures = [failure for task in tasks for failure in task() or ()]
        return take_missing_glyphs(), failures
    global _tasks
    _tasks = tasks
    with ProcessPoolExecutor(min(processes, len(tasks)), mp_context=get_context("fork")) as pool:
        done = list(pool.map(_run, range(len(tasks))))
    return set().union(*(glyphs for glyphs, _ in done)), [failure for _, failures in done for failure in failures]


def _run(number: int) -> tuple[set[str], list[Gap]]:
    with blame_plugins():  # here: the process that started this one does not see where an error comes from
        failures = _tasks[number]() or []
    return take_missing_glyphs(), failures


MOST_CHARACTERS = 12
"""Largest number of characters that a warning lists."""
WIDE_RANGE = 10
"""Ratio of the largest to the smallest value beyond which the axis is logarithmic."""

SETTINGS = {"W/ Title": (BLUE, "o"), "W/O Title": (VERMILION, "s")}
"""Setting of a language model -> colour and marker."""


def plot_figures(config: Path, contents: Path, tables: Path, output: Path, threads: int = 1) -> None:
    """Plot all figures of a run into the folder `output`, as SVG, and as PDF unless its config says not to.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run.
    tables
        Folder of the run's tables.
    output
        Folder to write; missing.csv in it has the critics' own figures that failed, if any did.
    threads
        Number of parallel processes.
    """
    results = Results(config, contents)
    headline, statistics = read_headline(tables), read_statistics(tables)
    truth = read_if_any(tables / "known_truth.csv", ("corpus", "critic", "system", "truth"))
    probabilities = read_if_any(tables / "probability_correlations.csv", ("corpus",))
    confidence = 100 * results.config.statistics.confidence
    with_pdf = results.config.pdf_figures
    with atomic(output) as folder, formats(with_pdf):
        folder.mkdir()
        tasks: list[Task] = [
            partial(_plot_critic, results, findings, headline, truth)
            for findings in read_findings(results, statistics, folder)
        ]
        tasks += [
            partial(_save, folder / f"probabilities_{corpus}", plot_probabilities, probabilities, corpus)
            for corpus in probabilities["corpus"].unique()
        ]
        tasks += [partial(_plot_training, results, *trained, folder) for trained in results.contents.trained_models]
        tasks += [
            partial(_save, folder / course_figure(*map(str, key)), plot_courses, rows, str(key[1]), confidence)
            for key, rows in course_table(statistics).groupby(["corpus", "system"], sort=False)
            if not is_matched(str(key[1]))
        ]
        tasks.append(partial(_plot_correlations, results, statistics, read_correlations(tables), folder))
        glyphs, failures = run_tasks(tasks, threads)
        write_missing(failures, folder)
    if glyphs and with_pdf:
        log.warning(
            "%d characters of names and titles are in no installed font (%s): the PDF figures show boxes in their"
            " place; the pages show them; install fonts of these scripts, such as Noto Sans, and plot again",
            len(glyphs),
            " ".join(sorted(glyphs)[:MOST_CHARACTERS]) + (" ..." if len(glyphs) > MOST_CHARACTERS else ""),
        )


def _plot_critic(results: Results, findings: Findings, headline: pd.DataFrame, truth: pd.DataFrame) -> list[Gap]:
    """Plot the figures of a critic on a corpus, its own and general ones; return the failure of its own, if any."""
    failures = plot_overview(findings)
    _plot_scores(results, findings, headline, truth)
    return failures


def _plot_scores(results: Results, findings: Findings, headline: pd.DataFrame, truth: pd.DataFrame) -> None:
    """Plot the general figures of a critic with scores."""
    critic, corpus, folder = findings.critic, findings.corpus, findings.figures
    if not (findings.systems and get_critic(critic).data.scores):
        return
    rows = headline[headline["corpus"] == corpus]
    if rows[f"{critic}_{latent_measure(critic).name}"].isna().all():  # marked as unusable in the headline
        return
    truth_of_chapter = truth[(truth["corpus"] == corpus) & (truth["critic"] == critic)]
    figure = plot_latent(rows, critic, corpus, truth_of_chapter, 100 * results.config.statistics.confidence)
    save(figure, folder / f"latent_{critic}_{corpus}")
    if len(_with_perplexity(rows, critic)) > 1:  # one point shows no comparison
        save(plot_perplexity(rows, critic, corpus), folder / f"perplexity_{critic}_{corpus}")


def _save(stem: Path, plot: Callable[..., Figure], *arguments: Any) -> None:
    save(plot(*arguments), stem)


def _plot_training(results: Results, corpus: str, system: str, folder: Path) -> None:
    log = results.training_log(corpus, system)
    save(plot_losses(log, f"Training of {system} on {corpus}"), folder / f"training_{corpus}_{system}")


def _plot_correlations(results: Results, statistics: pd.DataFrame, correlations: pd.DataFrame, folder: Path) -> None:
    """Plot the systems' human scores and the correlations with each table of judgements, if there are any."""
    for scores in read_human_scores(results):
        if study := study_folder(scores):
            save(plot_system_scores(read_systems(study)), folder / systems_stem(scores))
        rows = select_correlations(correlations, scores)
        plotted = select_measures(rows, quality_measures(statistics))
        if plotted.empty:
            continue
        number = len(rows[["critic", "statistic"]].drop_duplicates())
        confidence = 100 * results.config.statistics.confidence
        save(plot_correlations(plotted, number, scores.title, confidence), folder / scores.stem)


def plot_latent(rows: pd.DataFrame, critic: str, corpus: str, truth: pd.DataFrame, confidence: float) -> Figure:
    """Plot the latent PPL (or NLL) of every system with its interval, the control as a band, and known truths.

    Parameters
    ----------
    rows
        Rows of the headline table, one per system.
    critic, corpus
        Names of the critic and the corpus.
    truth
        Columns system and truth (the theoretical value); may be empty.
    confidence
        Level of the intervals in percent.
    """
    name = f"{critic}_{latent_measure(critic).name}"
    rows = rows[rows[name].notna()].reset_index(drop=True)
    control = rows[rows["system"] == CONTROL].iloc[0]
    expected = truth.set_index("system")["truth"] if len(truth) else pd.Series(dtype=float)
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.2 + 0.42 * len(rows)))
        axes.axvspan(control[f"{name}_low"], control[f"{name}_high"], **REAL_TEXT_BAND)
        axes.axvline(control[name], color=GREEN, lw=1)
        labelled: set[str] = set()
        for y, row in rows.iterrows():
            kind = kinds()[str(row["kind"])].data
            error = interval_bars([row[name]], [row[f"{name}_low"]], [row[f"{name}_high"]])
            label = None if kind.label in labelled else kind.label
            axes.errorbar(row[name], y, xerr=error, fmt="o", capsize=3, color=kind.colour, label=label)
            labelled.add(kind.label)
            if row["system"] in expected.index:
                label = None if "truth" in labelled else "theoretical value"
                axes.plot(expected[row["system"]], y, marker="D", ms=8, mfc="none", mec=PURPLE, ls="", label=label)
                labelled.add("truth")
        label_rows(axes, [_row_label(row) for _, row in rows.iterrows()])
        axes.set(
            xlabel=f"{_axis(critic)}, with {confidence:g} % interval\n(lower: structure more likely in real text)",
        )
        title_panel(axes, f"{critic} on {corpus}")
        if _wide_range(rows[name]):
            axes.set_xscale("log")
        add_legend(figure)
    return figure


def plot_perplexity(rows: pd.DataFrame, critic: str, corpus: str) -> Figure:
    """Plot word perplexity against latent perplexity of the language models."""
    name = f"{critic}_{latent_measure(critic).name}"
    models = _with_perplexity(rows, critic)
    control = rows[rows["system"] == CONTROL].iloc[0]
    with style():
        figure, axes = plt.subplots(figsize=(5.8, 4.2))
        axes.axhspan(control[f"{name}_low"], control[f"{name}_high"], **REAL_TEXT_BAND, label="real text")
        entries = pd.Series([_legend_entry(row) for _, row in models.iterrows()], models.index, dtype=object)
        for (label, colour, marker), group in models.groupby(entries):
            axes.errorbar(
                group["word_ppl"],
                group[name],
                xerr=interval_bars(group["word_ppl"], group["word_ppl_low"], group["word_ppl_high"]),
                yerr=interval_bars(group[name], group[f"{name}_low"], group[f"{name}_high"]),
                fmt=marker,
                capsize=3,
                color=colour,
                label=label,
            )
        axes.margins(0.15)
        if _wide_range(rows[name][rows["word_ppl"].notna() | (rows["system"] == CONTROL)]):
            axes.set_yscale("log")
        axes.set(xlabel="word perplexity on the test split", ylabel=f"{_axis(critic)} ({critic})")
        title_panel(axes, corpus)
        add_legend(figure)
        figure.canvas.draw()  # the layout decides where the points are
        places = list(zip(models["word_ppl"], models[name], strict=True))
        label_points(axes, shorten(list(models["system"]), LONGEST_LABEL), places)
    return figure


def _with_perplexity(rows: pd.DataFrame, critic: str) -> pd.DataFrame:
    return rows[rows["word_ppl"].notna() & rows[f"{critic}_{latent_measure(critic).name}"].notna()]


def _legend_entry(row: pd.Series) -> tuple[str, str, str]:
    """Return label, colour and marker: of the setting where the kind names it, else of the kind."""
    kind = kinds()[str(row["kind"])].data
    if kind.names_setting and row["setting"] in SETTINGS:
        return (str(row["setting"]), *SETTINGS[row["setting"]])
    return kind.label, kind.colour, "^"


def plot_losses(log: pd.DataFrame, title: str) -> Figure:
    """Plot training and validation loss by epoch."""
    with style():
        figure, axes = plt.subplots(figsize=(5.8, 3.4))
        for column, name, colour, marker in (
            ("train_loss", "training loss", GREY, ""),
            ("valid_loss", "validation loss", BLUE, "o"),
        ):
            logged = log[log[column].notna()]
            axes.plot(logged["epoch"], logged[column], color=colour, marker=marker, label=name)
        best = log.loc[log["valid_loss"].idxmin()]
        axes.plot(best["epoch"], best["valid_loss"], marker="*", ms=14, color=VERMILION, ls="", label="kept checkpoint")
        axes.set(xlabel="epoch", ylabel="loss (nats per token)")
        title_panel(axes, title)
        add_legend(figure)
    return figure


def _axis(critic: str) -> str:
    return "latent NLL, nats per dimension" if latent_measure(critic).logarithmic else "latent perplexity"


def _wide_range(values: pd.Series) -> bool:
    return bool(0 < WIDE_RANGE * values.min() < values.max())


def _row_label(row: pd.Series) -> str:
    names_setting = kinds()[str(row["kind"])].data.names_setting
    return f"{row['system']} ({row['setting']})" if names_setting and row["setting"] else str(row["system"])


_SHIFT = 6
"""Distance of a label from its point, in typographic points."""
_CLEAR = 3
"""Smallest distance between two labels, in pixels."""
_PLACES = tuple(
    (direction, rise)
    for rise in (_SHIFT, -_SHIFT, 3 * _SHIFT, -3 * _SHIFT, 5 * _SHIFT, -5 * _SHIFT)
    for direction in ("left", "right")
)
"""Places of a label, the preferred first: its end at the point ("left": it stands to the right), and how high it is, in
typographic points. A line joins a distant label to its point."""


def label_points(axes: Axes, labels: Sequence[str], places: Sequence[tuple[float, float]]) -> list[Annotation]:
    """Write a label beside each point, and return the labels.

    A label has the first place within the axes that is clear of the labels before it and of all points. If none is, it
    has the one that covers least. The limits and scales of the axes must be final.
    """
    renderer = axes.figure.canvas.get_renderer()  # type: ignore[attr-defined]  # of Agg
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in axes.transData.transform(list(places))]
    written = []
    from_above = sorted(zip(places, labels, strict=True), key=lambda point: -point[0][1])
    for place, label in from_above:  # so that labels of close points stand in the order of the points
        tried = [_write(axes, label, place, *alignment) for alignment in _PLACES]
        boxes = [_extent(annotation, renderer) for annotation in tried]
        costs = [_covered(box, taken) + _outside(box, axes.bbox) for box in boxes]
        best = costs.index(min(costs))
        for number, annotation in enumerate(tried):
            if number != best:
                annotation.remove()
        taken.append(boxes[best])
        written.append(tried[best])
    return written


def _write(axes: Axes, label: str, place: tuple[float, float], direction: str, rise: int) -> Annotation:
    return axes.annotate(
        label,
        place,
        xytext=(_SHIFT if direction == "left" else -_SHIFT, rise),
        textcoords="offset points",
        ha=direction,
        va="bottom" if rise > 0 else "top",
        arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6} if abs(rise) > _SHIFT else None,
    )


def _extent(annotation: Annotation, renderer: RendererBase) -> Bbox:
    """Return the box of a label with its margin, without the line to its point."""
    annotation.update_positions(renderer)
    return Text.get_window_extent(annotation, renderer).padded(_CLEAR)


def _covered(box: Bbox, taken: Sequence[Bbox]) -> float:
    """Return the area of a box that others cover, in square pixels."""
    shared = (Bbox.intersection(box, neighbour) for neighbour in taken)
    return sum(part.width * part.height for part in shared if part is not None)


def _outside(box: Bbox, frame: Bbox) -> float:
    """Return the area of a box outside a frame, in square pixels."""
    inside = Bbox.intersection(box, frame)
    return box.width * box.height - (inside.width * inside.height if inside is not None else 0)
