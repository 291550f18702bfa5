"""Print the tables of docs/sensitivity.md from finished runs.

    python examples/sensitivity/tables.py articles stories

Each argument is the folder of a run of `macroscope sensitivity`. Its name is the heading of a column.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from macroscope.critics.two_sample_test import NO_DAMAGE
from macroscope.reporting.sensitivity_summary import (
    CHANGED,
    ENOUGH,
    FEWEST_CHANGED,
    USUAL_DOSE,
    USUAL_SIZE,
    at_usual_size,
    format_n80,
    select_harms,
    tabulate_n80,
)
from macroscope.systems.perturbation.declaration import DAMAGES
from macroscope.tables import read_csv

DESIGN, PEER = "unpaired", "peer_"
MOST_ALARMS = 0.075
_USED = re.compile(r"used ([\d.]+) s of the processor, at most ([\d.]+) MB")


def main(folders: Sequence[Path]) -> None:
    """Print all tables of the runs, as Markdown."""
    runs = {folder.name: _read(folder) for folder in folders}
    harmful = [name for name, damage in DAMAGES.items() if not damage.is_harmless]
    of_critics = {name: run[~run["critic"].str.startswith(PEER)] for name, run in runs.items()}
    print("## n80\n")
    n80 = {name: tabulate_n80(run) for name, run in of_critics.items()}
    _print_table(["damage", *runs], ([f"`{d}`", *(_found(n80[r], of_critics[r], d) for r in runs)] for d in harmful))
    print("\n## Targets\n")
    for name, run in of_critics.items():
        best = _best(run)
        missed = [f"{damage} ({_percent(best[damage])})" for damage in harmful if best.get(damage, 1) < ENOUGH]
        print(f"{name}: {sum(best >= ENOUGH)} of {len(best)} damages found; not: {', '.join(missed)}")
    print("\n## False alarms\n")
    for name, run in of_critics.items():
        _print_false_alarms(name, run)
    print("\n## Beside peers\n")
    for name, run in runs.items():
        _print_peers(name, run)
    print("\n## Time\n")
    for folder in folders:
        _print_times(folder)


def _read(folder: Path) -> pd.DataFrame:
    run = read_csv(next(folder.glob("results/*/sensitivity/matrix.csv")))
    return run[(run["design"] == DESIGN) & ((run["damage"] == NO_DAMAGE) | (run["dose"] == USUAL_DOSE))]


def _found(n80: pd.DataFrame, run: pd.DataFrame, damage: str) -> str:
    """Return the critics that find a damage among the usual number of texts, with their documents, the best first."""
    rows = n80[n80["damage"] == damage].sort_values(["n80", "critic"])
    if rows.empty:
        cells = run[run["damage"] == damage]
        return "does not fit" if len(cells) and cells[CHANGED].max() < FEWEST_CHANGED else "not run"
    reached = rows[rows["n80"] <= USUAL_SIZE]
    if len(reached):
        return ", ".join(f"{row.critic} {format_n80(row.n80, row.n_smallest)}" for row in reached.itertuples())
    usual = at_usual_size(run[run["damage"] == damage])
    best = usual.loc[usual["power"].idxmax()]
    return f"– ({best['critic']}: {_percent(best['power'])})"


def _best(run: pd.DataFrame) -> pd.Series:
    """Return the largest power of any critic against each harmful damage, at the usual size."""
    usual = at_usual_size(select_harms(run))
    best = usual.groupby("damage")["power"].max()
    return best[[damage for damage in best.index if not DAMAGES[damage].is_harmless]]


def _print_false_alarms(name: str, run: pd.DataFrame) -> None:
    usual = at_usual_size(run)
    is_harmless = usual["damage"].map(lambda damage: damage in DAMAGES and DAMAGES[damage].is_harmless).astype(bool)
    cells = usual[is_harmless & ((usual[CHANGED] >= FEWEST_CHANGED) | (usual["damage"] == "shuffle_documents"))]
    many = cells[cells["power"] > MOST_ALARMS].sort_values("power", ascending=False)
    named = ", ".join(f"{row.critic} {row.damage} {_percent(row.power)}" for row in many.itertuples())
    real, of_sizes = (
        usual[usual["damage"] == NO_DAMAGE],
        run[run["damage"] == NO_DAMAGE].groupby("critic")["power"].mean(),
    )
    print(f"{name}: {len(cells) - len(many)} of {len(cells)} harmless cells at most 7.5 %; above: {named}")
    print(
        f"  real against real at n = {usual['n'].max()}: {_range(real['power'])}; mean over sizes: {_range(of_sizes)}"
    )


def _print_peers(name: str, run: pd.DataFrame) -> None:
    usual = at_usual_size(select_harms(run))
    usual = usual[~usual["damage"].map(lambda damage: DAMAGES[damage].is_harmless).astype(bool)]
    is_peer = usual["critic"].str.startswith(PEER)
    if not is_peer.any():
        print(f"{name}: no peers")
        return
    rows = []
    for damage, cells in usual.groupby("damage"):
        best = [
            cells.loc[cells.loc[chosen, "power"].idxmax()] for chosen in (~is_peer[cells.index], is_peer[cells.index])
        ]
        rows.append((best[1]["power"] - best[0]["power"], damage, *best))
    better = [row for row in sorted(rows, key=lambda row: -row[0]) if row[0] > 0]
    print(f"{name}: the best critic is at least as good in {len(rows) - len(better)} of {len(rows)}")
    for _, damage, ours, theirs in better:
        described = [f"{each['critic']} {_percent(each['power'])}" for each in (theirs, ours)]
        print(f"  {damage}: {described[0]}, {described[1]}")


def _print_times(folder: Path) -> None:
    """Print the seconds of the processor of each stage, which the last lines of its logs say."""
    used, jobs, memory = Counter[str](), Counter[str](), 0.0
    for log in folder.glob("logs/*/*/**/*.log"):
        stage = log.relative_to(folder).parts[2]
        if match := _USED.search(log.read_text(encoding="utf-8")):
            used[stage] += float(match[1])
            jobs[stage] += 1
            memory = max(memory, float(match[2]))
    print(f"{folder.name}: {sum(used.values()):.0f} s, {jobs.total()} jobs with a log, at most {memory:.0f} MB")
    for stage, seconds in used.most_common():
        print(f"  {stage}: {seconds:.0f} s, {jobs[stage]} jobs")


def _print_table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    for row in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(row)} |")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _range(shares: pd.Series) -> str:
    return f"{_percent(shares.min())} to {_percent(shares.max())}"


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
