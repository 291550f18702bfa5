"""The page of sensitivity: which damages each critic finds, at which dose, with how many documents."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.critics import get_critic
from macroscope.documents import count_documents, read_provenance
from macroscope.files import atomic
from macroscope.gaps import ADVICE, write_missing
from macroscope.options import CONTROL
from macroscope.reporting.pages import inline_svg, render_page
from macroscope.reporting.pair_accuracies import tabulate_pairs
from macroscope.reporting.results import Results
from macroscope.reporting.sensitivity_figures import plot_curves, plot_heat_map
from macroscope.reporting.sensitivity_summary import (
    FEWEST_CHANGED,
    add_changed,
    describe_critic,
    tabulate_d50,
    tabulate_n80,
    tabulate_selectivity,
    unseen_damages,
    words,
)
from macroscope.statistics.power import DESIGNS
from macroscope.systems.perturbation.declaration import DAMAGES
from macroscope.tables import read_csv, write_csv

PAGE, MATRIX = "index.html", "matrix.csv"
_UNDAMAGED = re.compile(r"document left as it was$")


def write_sensitivity(config: Path, output: Path) -> None:
    """Write the page of a run with `sensitivity`, its figures and its tables into a folder.

    matrix.csv has a row per critic, damage, dose, design and number of documents; n80.csv, d50.csv, selectivity.csv and
    pairs.csv its summaries; damages.csv the documents that each damage could not change;
    missing.csv what failed, if anything did.

    Parameters
    ----------
    config
        Effective config of the run.
    output
        Folder to write.
    """
    results = Results(config)
    block = results.plan.config.sensitivity
    assert block is not None  # only such a run has this job
    counts = count_undamaged(results)
    powers = add_changed(pd.concat([read_csv(path) for path in _power_files(results)], ignore_index=True), counts)
    critics = list(powers["critic"].unique())
    with atomic(output) as folder:
        folder.mkdir()
        n80 = tabulate_n80(powers)
        tables = {
            MATRIX: powers,
            "n80.csv": n80,
            "d50.csv": tabulate_d50(powers),
            "pairs.csv": add_changed(tabulate_pairs(results), counts),
            "selectivity.csv": tabulate_selectivity(powers, results.plan.config.statistics.confidence),
            "damages.csv": counts,
        }
        for name, table in tables.items():
            write_csv(table, folder / name)
        write_missing(results.plan.config.failed, folder)
        designs = [design for design in DESIGNS[::-1] if (powers["design"] == design).any()]
        for design in designs:
            plot_heat_map(n80[n80["design"] == design], critics, block.doses, folder / f"n80_{design}")
        for critic in critics:
            plot_curves(powers, critic, folder / f"curves_{critic}")
        (folder / PAGE).write_text(_render(results, powers, counts, designs, folder), encoding="utf-8")


def count_undamaged(results: Results) -> pd.DataFrame:
    """Count the documents that each damage left as they were: damage, dose, documents, undamaged."""
    block = results.plan.config.sensitivity
    assert block is not None
    rows = []
    for system, damage, dose in block.cells():
        provenance = read_provenance(results.local(results.plan.systems.samples(block.corpus, system)))
        count = next(count for count in provenance.counts if _UNDAMAGED.search(count.filter))
        rows.append((damage, dose, count.kept + count.dropped, count.dropped))
    return pd.DataFrame(rows, columns=["damage", "dose", "documents", "undamaged"])


def _power_files(results: Results) -> list[Path]:
    return [results.local(path) for path in results.plan.reporting.sensitivity_read()["powers"]]


def _render(results: Results, powers: pd.DataFrame, counts: pd.DataFrame, designs: Sequence[str], folder: Path) -> str:
    block = results.plan.config.sensitivity
    assert block is not None
    real = results.local(results.plan.systems.samples(block.corpus, CONTROL))
    critics = list(powers["critic"].unique())
    undamaged = counts[counts["undamaged"] > 0.05 * counts["documents"]]
    return render_page(
        "sensitivity",
        run=results.plan.config.run,
        missing=results.plan.config.failed,
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
