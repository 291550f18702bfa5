"""The page of sensitivity: which damages each critic finds, at which dose, with how many documents.

Its figures are a heat map of the documents for 80 % power, and curves of power by dose. Its pairs are a text and its
damaged copy: how often each number of a text tells which is which.
"""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from macroscope.colours import BLUE, GREY, VERMILION
from macroscope.config.sensitivity import Sensitivity
from macroscope.critics import get_critic
from macroscope.critics.attributions import read_scores
from macroscope.documents import count_documents, read_provenance
from macroscope.files import atomic
from macroscope.gaps import ADVICE, write_missing
from macroscope.options import CONTROL
from macroscope.plotting import formats, save, style
from macroscope.reporting.pages import inline_svg, render_page
from macroscope.reporting.sensitivity_summary import (
    FEWEST_CHANGED,
    add_changed,
    at_usual_size,
    describe_critic,
    format_n80,
    tabulate_d50,
    tabulate_n80,
    tabulate_selectivity,
    unseen_damages,
    words,
)
from macroscope.runs.results import Results
from macroscope.statistics.document_groups import OPENING
from macroscope.statistics.p_values import TIE
from macroscope.statistics.power import DESIGNS, LEVEL
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.score_tables import read_document_numbers
from macroscope.systems.perturbation.declaration import DAMAGES, LEVELS
from macroscope.tables import read_csv, write_csv

PAGE, MATRIX = "index.html", "matrix.csv"
_UNDAMAGED = re.compile(r"document left as it was$")


def write_sensitivity(config: Path, contents: Path, output: Path) -> None:
    """Write the page of a run with `sensitivity`, its figures and its tables into a folder.

    matrix.csv has a row per critic, damage, dose, design and number of documents; n80.csv, d50.csv, selectivity.csv and
    pairs.csv its summaries; damages.csv the documents that each damage could not change;
    missing.csv what failed, if anything did.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run.
    output
        Folder to write.
    """
    results = Results(config, contents)
    block = results.config.sensitivity
    assert block is not None  # only such a run has this job
    counts = count_undamaged(results, block)
    powers = add_changed(pd.concat([read_csv(path) for path in results.tables("powers")], ignore_index=True), counts)
    critics = list(powers["critic"].unique())
    with atomic(output) as folder, formats(results.config.pdf_figures):
        folder.mkdir()
        n80 = tabulate_n80(powers)
        tables = {
            MATRIX: powers,
            "n80.csv": n80,
            "d50.csv": tabulate_d50(powers),
            "pairs.csv": add_changed(tabulate_pairs(results, block), counts),
            "selectivity.csv": tabulate_selectivity(powers, results.config.statistics.confidence),
            "damages.csv": counts,
        }
        for name, table in tables.items():
            write_csv(table, folder / name)
        write_missing(results.config.failed, folder)
        designs = [design for design in DESIGNS[::-1] if (powers["design"] == design).any()]
        for design in designs:
            plot_heat_map(n80[n80["design"] == design], critics, block.doses, folder / f"n80_{design}")
        for critic in critics:
            plot_curves(powers, critic, folder / f"curves_{critic}")
        (folder / PAGE).write_text(_render(results, block, powers, counts, designs, folder), encoding="utf-8")


def count_undamaged(results: Results, block: Sensitivity) -> pd.DataFrame:
    """Count the documents that each damage left as they were: damage, dose, documents, undamaged."""
    rows = []
    for system, damage, dose in block.cells():
        provenance = read_provenance(results.samples_of(block.corpus, system))
        count = next(count for count in provenance.counts if _UNDAMAGED.search(count.filter))
        rows.append((damage, dose, count.kept + count.dropped, count.dropped))
    return pd.DataFrame(rows, columns=["damage", "dose", "documents", "undamaged"])


def _render(
    results: Results,
    block: Sensitivity,
    powers: pd.DataFrame,
    counts: pd.DataFrame,
    designs: Sequence[str],
    folder: Path,
) -> str:
    real = results.samples_of(block.corpus, CONTROL)
    critics = list(powers["critic"].unique())
    undamaged = counts[counts["undamaged"] > 0.05 * counts["documents"]]
    return render_page(
        "sensitivity",
        run=results.config.run,
        missing=results.config.failed,
        advice=ADVICE,
        corpus=block.corpus,
        documents=count_documents(real, "test") + count_documents(real, "valid"),
        doses=block.doses,
        critics={
            critic: {
                "observes": get_critic(critic).data.observes,
                "sentences": {design: describe_critic(powers, critic, design) for design in designs},
                "curves": inline_svg(folder / f"curves_{critic}.svg"),
            }
            for critic in critics
        },
        heat_maps={design: inline_svg(folder / f"n80_{design}.svg") for design in designs},
        unseen={design: [words(name) for name in unseen_damages(powers, design)] for design in designs},
        unfit=sorted({words(row.damage) for row in counts.itertuples() if _is_unfit(row)}),
        undamaged=[(words(row.damage), row.dose, row.undamaged, row.documents) for row in undamaged.itertuples()],
        left_out={words(name): reason for name, reason in block.left_out().items()},
        damages=[(words(d.name), d.level, d.summary, words(d.twin)) for d in block.chosen()],
        harmless=[words(name) for name, damage in DAMAGES.items() if damage.is_harmless],
    )


def _is_unfit(row: Any) -> bool:
    """Return whether a damage leaves most documents as they are, though it is one of documents."""
    return DAMAGES[row.damage].level != "collection" and row.documents - row.undamaged < FEWEST_CHANGED * row.documents


_LINES = {"paired": (BLUE, "o", "-"), "unpaired": (VERMILION, "s", "--")}
"""Design -> colour, marker and line of its curve: they differ in more than the colour."""
_BOUNDS = [0, 20, 50, 100, 200, 500, 1001]


def order_damages(names: Sequence[str]) -> list[str]:
    return sorted(names, key=lambda name: (DAMAGES[name].is_harmless, LEVELS.index(DAMAGES[name].level)))


def plot_heat_map(n80: pd.DataFrame, critics: Sequence[str], doses: Sequence[float], stem: Path) -> None:
    """Plot the documents for 80 % power: damages x critics and doses, with the numbers in the cells."""
    damages = order_damages(list(n80["damage"].unique()))
    columns = [(critic, dose) for critic in critics for dose in doses]
    values = n80.set_index(["damage", "critic", "dose"])["n80"]
    grid = np.array([[values.get((damage, *column), np.nan) for column in columns] for damage in damages])
    with style():
        figure, axes = plt.subplots(figsize=(2.6 + 0.52 * len(columns), 0.8 + 0.27 * len(damages)))
        colours = plt.get_cmap("cividis_r", len(_BOUNDS) - 1).with_extremes(bad="#EFEFEF")
        shown = np.ma.masked_invalid(grid)
        axes.imshow(shown, cmap=colours, norm=BoundaryNorm(_BOUNDS, len(_BOUNDS) - 1), aspect="auto")
        for row, column in np.ndindex(grid.shape):
            _write_cell(axes, row, column, float(grid[row, column]), n80["n_smallest"].min())
        axes.set_yticks(range(len(damages)), [words(name) for name in damages])
        axes.set_xticks(range(len(columns)), [f"{dose:.0%}" for _, dose in columns], fontsize=8)
        axes.xaxis.tick_top()
        for number, critic in enumerate(critics):
            centre = (number + 0.5) * len(doses) - 0.5
            axes.text(centre, -1.5, critic, ha="center", va="bottom", fontsize=9, fontweight="bold")
            axes.axvline((number + 1) * len(doses) - 0.5, color="white", lw=3)
        first_harmless = sum(not DAMAGES[name].is_harmless for name in damages)
        axes.axhline(first_harmless - 0.5, color="black", lw=1)
        axes.grid(False)
        axes.tick_params(length=0)
        save(figure, stem)


def _write_cell(axes: plt.Axes, row: int, column: int, value: float, smallest: float) -> None:
    if np.isnan(value):
        return
    is_dark = 100 <= value < np.inf
    axes.text(
        column,
        row,
        format_n80(value, smallest),
        ha="center",
        va="center",
        fontsize=8,
        color="white" if is_dark else "black",
    )


def plot_curves(powers: pd.DataFrame, critic: str, stem: Path) -> None:
    """Plot power by dose at the usual size for one critic: a small panel per damage."""
    usual = at_usual_size(powers)
    usual = usual[usual["critic"] == critic]
    damages = order_damages([name for name in usual["damage"].unique() if name in DAMAGES])
    columns = min(6, len(damages))
    rows = -(-len(damages) // columns)
    with style():
        figure, grid = plt.subplots(
            rows, columns, sharex=True, sharey=True, squeeze=False, figsize=(1.75 * columns, 1.45 * rows + 0.5)
        )
        for axes in grid.flat[len(damages) :]:
            axes.set_visible(False)
        for axes, damage in zip(grid.flat, damages, strict=False):
            _plot_panel(axes, usual[usual["damage"] == damage], damage)
        for axes in grid[:, 0]:
            axes.set_ylabel("power", fontsize=8)
        for axes in grid.flat[max(0, len(damages) - columns) : len(damages)]:
            axes.tick_params(labelbottom=True)
        _add_legend(figure, usual)
        save(figure, stem)


def _plot_panel(axes: plt.Axes, rows: pd.DataFrame, damage: str) -> None:
    for design in DESIGNS:
        colour, marker, line = _LINES[design]
        curve = rows[rows["design"] == design].sort_values("dose")
        doses = np.array([0.0, *curve["dose"]])
        axes.fill_between(doses, [LEVEL, *curve["ci_low"]], [LEVEL, *curve["ci_high"]], color=colour, alpha=0.15, lw=0)
        axes.plot(doses, [LEVEL, *curve["power"]], line, color=colour, marker=marker, ms=3.5, lw=1.3)
    axes.axhline(0.8, color=GREY, lw=0.8, ls=":")
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"], fontsize=8)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.tick_params(axis="x", labelsize=8)
    harmless = "\n(harmless)" if DAMAGES[damage].is_harmless else ""
    axes.set_title(words(damage) + harmless, fontsize=8)


def _add_legend(figure: Figure, usual: pd.DataFrame) -> None:
    handles, labels = [], []
    for design, (colour, marker, line) in _LINES.items():
        sizes = usual.loc[usual["design"] == design, "n"]
        if len(sizes):
            handles.append(plt.Line2D([], [], color=colour, marker=marker, ls=line, ms=4))
            which = "the same documents" if design == "paired" else "other documents"
            labels.append(f"{design}: damaged against real text, {which}, {sizes.iloc[0]} per side")
    handles.append(plt.Line2D([], [], color=GREY, ls=":", lw=0.8))
    labels.append("80 %")
    figure.legend(handles, labels, loc="outside lower left", ncols=1, fontsize=8)


@dataclass(frozen=True)
class PairAccuracy:
    """Share of pairs in which the damaged text has the larger number; a tie counts half.

    Attributes
    ----------
    value, low, high
        Share, in [0, 1], with its Wilson interval; 0.5 is chance. NaN if there is no pair.
    n
        Number of pairs in which both texts have a number.
    ties
        Number of pairs whose texts have equal numbers.
    """

    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    ties: int = 0


def measure_pair_accuracy(intact: ArrayLike, damaged: ArrayLike, confidence: float = 0.95) -> PairAccuracy:
    """Compute the share of pairs in which the damaged text has the larger number.

    Parameters
    ----------
    intact, damaged
        Number of each text, in the order of the pairs; larger is less like real text. A pair with a NaN does not count.
        Infinite numbers are equal.
    confidence
        Level of the interval, which takes a tie as half a success of a trial: it is too wide if many pairs are tied.
    """
    first, second = np.asarray(intact, dtype=float), np.asarray(damaged, dtype=float)
    is_judged = ~(np.isnan(first) | np.isnan(second))
    first, second = first[is_judged], second[is_judged]
    n = len(first)
    if not n:
        return PairAccuracy()
    is_tied = np.isclose(first, second, rtol=TIE, atol=TIE)
    ties = int(is_tied.sum())
    successes = int((second > first)[~is_tied].sum()) + ties / 2
    low, high = wilson_interval(successes, n, confidence)
    return PairAccuracy(successes / n, float(low), float(high), n, ties)


SCORE = "score"
"""Name of the number that the stage `attribute` writes; other numbers have those of `statistics.score_tables`."""
COLUMNS = ("critic", "number", "damage", "dose")
ACCURACY = ("pair_accuracy", "pair_accuracy_low", "pair_accuracy_high", "n_pairs", "n_ties")
"""Columns of `measure_pair_accuracy`."""


def tabulate_pairs(results: Results, block: Sensitivity) -> pd.DataFrame:
    """Tabulate the accuracy over pairs of each number of a document, against each damage and dose.

    The direction of a number is the same for all damages: larger is damaged.

    Returns
    -------
    data frame
        `COLUMNS` and `ACCURACY`, of the critics that score each document by itself (`Critic.scores_documents`), and
        without the systems for which a critic failed.
    """
    attributions, scores = results.outputs("attributions"), results.outputs("document_scores")

    def numbers(critic: str, system: str) -> pd.DataFrame:
        key = critic, block.corpus, system
        return read_numbers(attributions[key], scores.get(key))

    rows = []
    for critic, _ in results.contents.chapters:
        if not get_critic(critic).data.scores_documents:
            continue
        intact = numbers(critic, CONTROL)
        for system, damage, dose in block.cells():
            if (critic, block.corpus, system) not in attributions:
                continue
            damaged = numbers(critic, system)
            accuracies = compare_pairs(intact, damaged, results.config.statistics.confidence)
            rows += [(critic, name, damage, dose, *astuple(accuracy)) for name, accuracy in accuracies.items()]
    return pd.DataFrame(rows, columns=[*COLUMNS, *ACCURACY])


def read_numbers(attributions: Path, scores: Path | None) -> pd.DataFrame:
    """Read the score and the further numbers of each document, by id; `scores` is None for a critic without a prior."""
    ids, values, _ = read_scores(attributions)
    table = pd.DataFrame({SCORE: values}, index=pd.Index(ids, name="id"))
    if scores is None:
        return table
    return table.join(read_document_numbers(scores).set_index("id").drop(columns=OPENING, errors="ignore"))


def compare_pairs(intact: pd.DataFrame, damaged: pd.DataFrame, confidence: float) -> dict[str, PairAccuracy]:
    """Return the accuracy of each number over the documents of the same ids; none for a number without a pair."""
    twins = intact.reindex(damaged.index)
    accuracies = {str(name): measure_pair_accuracy(twins[name], damaged[name], confidence) for name in damaged}
    return {name: accuracy for name, accuracy in accuracies.items() if accuracy.n}
