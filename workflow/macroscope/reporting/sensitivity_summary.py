"""Summaries of powers: documents and doses needed, selectivity, sentences, and the damages that a matrix cites."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.two_sample_test import NO_DAMAGE, POWER_COLUMNS
from macroscope.errors import MacroscopeError
from macroscope.options import SPLIT_HALF
from macroscope.phrases import list_names
from macroscope.reporting.scorecard import LIKE
from macroscope.statistics.pairs import mover_difference
from macroscope.statistics.power import LEVEL, find_crossings
from macroscope.systems.perturbation.declaration import DAMAGES
from macroscope.tables import read_csv

ENOUGH, HALF = 0.8, 0.5
USUAL_DOSE, USUAL_SIZE = 0.25, 100
"""Dose, and largest number of documents, that sentences and curves are about."""
POWER = ["power", "ci_low", "ci_high"]
MOST_NAMED = 8
CHANGED, FEWEST_CHANGED = "changed", 0.2
"""Share of documents that a damage changes, and the least share with which its power says something of a critic."""


def tabulate_n80(powers: pd.DataFrame) -> pd.DataFrame:
    """Return the documents per side for 80 % power, of each critic, damage, dose and design.

    Returns
    -------
    data frame
        critic, design, damage, dose, n80, n80_low, n80_high, n_smallest, n_largest: infinite if not reached at the
        largest size; the smallest size if it is reached there.
    """
    rows = []
    for (critic, design, damage, dose), cell in select_harms(powers).groupby(["critic", "design", "damage", "dose"]):
        ordered = cell.sort_values("n")
        crossings = find_crossings(ordered["n"].tolist(), _triples(ordered), ENOUGH, logarithmic=True)
        ends = int(ordered["n"].iloc[0]), int(ordered["n"].iloc[-1])
        rows.append((critic, design, damage, dose, *crossings, *ends))
    return pd.DataFrame(
        rows, columns=["critic", "design", "damage", "dose", "n80", "n80_low", "n80_high", "n_smallest", "n_largest"]
    )


def tabulate_d50(powers: pd.DataFrame) -> pd.DataFrame:
    """Return the dose for 50 % power at the usual size, of each critic, damage and design; infinite if not reached.

    Without a damage, the power is the level.
    """
    rows = []
    for (critic, design, damage), cell in select_harms(at_usual_size(powers)).groupby(["critic", "design", "damage"]):
        ordered = cell.sort_values("dose")
        doses = [0.0, *ordered["dose"].tolist()]
        crossings = find_crossings(doses, [(LEVEL,) * 3, *_triples(ordered)], HALF, logarithmic=False)
        rows.append((critic, design, damage, int(ordered["n"].iloc[0]), *crossings))
    return pd.DataFrame(rows, columns=["critic", "design", "damage", "n", "d50", "d50_low", "d50_high"])


def tabulate_selectivity(powers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the power against each damage less that against its harmless twin, at the usual size and the same dose."""
    usual = at_usual_size(powers)
    cells = usual.set_index(["critic", "design", "damage", "dose"])
    rows = []
    for (critic, design, damage, dose), cell in cells.iterrows():
        key = (critic, design, DAMAGES[damage].twin if damage in DAMAGES else "", dose)
        if key in cells.index:
            twin = cells.loc[key]
            difference = mover_difference(tuple(cell[POWER]), tuple(twin[POWER]), confidence)
            rows.append((critic, design, damage, dose, key[2], int(cell["n"]), *difference[:3]))
    names = ["critic", "design", "damage", "dose", "twin", "n", "selectivity", "selectivity_low", "selectivity_high"]
    return pd.DataFrame(rows, columns=names)


def at_usual_size(powers: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the largest size up to the usual one, or else of the smallest, of each critic and design."""
    chosen = []
    for _, rows in powers.groupby(["critic", "design"]):
        sizes = sorted(rows["n"].unique())
        size = max((n for n in sizes if n <= USUAL_SIZE), default=sizes[0])
        chosen.append(rows[rows["n"] == size])
    return pd.concat(chosen, ignore_index=True)


def usual_dose(doses: Sequence[float]) -> float:
    return min(doses, key=lambda dose: abs(dose - USUAL_DOSE))


def false_alarms(powers: pd.DataFrame, critic: str) -> pd.Series | None:
    """Return the row of real text against other real text, at the usual size; None if the corpus is too small."""
    usual = at_usual_size(powers)
    rows = usual[(usual["critic"] == critic) & (usual["damage"] == NO_DAMAGE)]
    return rows.iloc[0] if len(rows) else None


def describe_critic(powers: pd.DataFrame, critic: str, design: str) -> str:
    """Return sentences: what a critic finds from how many documents, what it does not, and its false alarms."""
    n80 = tabulate_n80(powers)
    mine = n80[(n80["critic"] == critic) & (n80["design"] == design)]
    if mine.empty:
        return "The corpus has too few documents for a test."
    dose = usual_dose(mine["dose"].unique())
    mine = mine[mine["dose"] == dose].sort_values("n80", kind="stable")
    is_harmless = mine["damage"].map(lambda name: DAMAGES[name].is_harmless).astype(bool)
    is_reached = np.isfinite(mine["n80"])
    sees = [_with_n80(row) for row in mine[is_reached & ~is_harmless].itertuples()]
    misses = [words(name) for name in mine[~is_reached & ~is_harmless]["damage"]]
    reacts = [_with_n80(row) for row in mine[is_reached & is_harmless].itertuples()]
    largest = int(mine["n_largest"].max())
    sentences = [
        f"At a dose of {dose:.0%}, it finds, with the documents that it needs: {list_names(sees, MOST_NAMED)}."
        if sees
        else f"At a dose of {dose:.0%}, it finds no damage with {largest} documents.",
        f"With {largest} documents, it does not find: {list_names(misses, MOST_NAMED)}." if misses else "",
        f"It reacts to harmless changes: {list_names(reacts, MOST_NAMED)}." if reacts else "",
    ]
    alarm = false_alarms(powers, critic) if design == "unpaired" else None
    if alarm is not None:
        sentences.append(f"Real text against other real text: {alarm['power']:.1%} false alarms.")
    return " ".join(filter(None, sentences))


def unseen_damages(powers: pd.DataFrame, design: str) -> list[str]:
    """Return the damages that no critic finds with a power of 80 % at the usual size, at the usual dose or below."""
    usual = select_harms(at_usual_size(powers))
    dose = usual_dose(usual["dose"].unique())
    usual = usual[(usual["design"] == design) & (usual["dose"] <= dose)]
    best = usual.groupby("damage", sort=False)["power"].max()
    return [damage for damage in best.index[best < ENOUGH] if not DAMAGES[damage].is_harmless]


def format_n80(n80: float, n_smallest: float) -> str:
    """Return a number of documents as text: "≤10" if it is the smallest size, a dash if it is infinite."""
    if np.isinf(n80):
        return "–"
    return f"≤{n_smallest:.0f}" if n80 <= n_smallest else f"{n80:.0f}"


def list_damages(names: Iterable[str]) -> str:
    """Return the harmful ones of these damages in words, as one string."""
    return ", ".join(words(name) for name in names if not DAMAGES[name].is_harmless)


def _with_n80(row: Any) -> str:
    return f"{words(row.damage)} ({format_n80(row.n80, row.n_smallest)})"


def words(damage: str) -> str:
    return damage.replace("_", " ")


def add_changed(table: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Add the column `CHANGED`: the share of documents that a damage changes; 0 for none.

    Parameters
    ----------
    counts
        damage, dose, documents, undamaged.
    """
    shares = counts.assign(**{CHANGED: 1 - counts["undamaged"] / counts["documents"]})
    merged = table.merge(shares[["damage", "dose", CHANGED]], on=["damage", "dose"], how="left")
    return merged.assign(**{CHANGED: merged[CHANGED].fillna(0.0)})


def select_harms(powers: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of damages that such texts can have: without one that leaves most documents as they are.

    Those of a collection are kept: their dose is a share of its documents, or their order is what they change.
    """
    damaged = powers[powers["damage"] != NO_DAMAGE]
    joins = damaged["damage"].map(lambda name: DAMAGES[name].level == "collection").astype(bool)
    return damaged[joins | (damaged[CHANGED] >= FEWEST_CHANGED)]


def _triples(rows: pd.DataFrame) -> list[tuple[float, float, float]]:
    return [(float(a), float(b), float(c)) for a, b, c in rows[POWER].itertuples(index=False)]


_DESIGN = "unpaired"
_CRITIC, _SEED = "critic:", "|run_seed:"


def read_matrix(path: Path) -> pd.DataFrame:
    """Read a matrix that `macroscope sensitivity` wrote.

    Raises
    ------
    MacroscopeError
        If the file is not such a table.
    """
    try:
        table = read_csv(path)
    except OSError as error:
        raise _refuse(path, error.strerror or str(error)) from None
    except ValueError as error:  # pandas' errors of parsing, too
        raise _refuse(path, f"not a readable table ({error})") from None
    if absent := [name for name in (*POWER_COLUMNS, CHANGED) if name not in table]:
        raise _refuse(path, f"it has no column '{absent[0]}'")
    if table.empty:
        raise _refuse(path, "it has no rows")
    return table


def _refuse(path: Path, reason: str) -> MacroscopeError:
    return MacroscopeError(f"{path}: {reason}; give a matrix.csv that `macroscope sensitivity` wrote")


def cite_sensitivity(path: str | None, scorecard: pd.DataFrame) -> list[str]:
    """Return the sentences of `cite_matrix`; none without a matrix."""
    return [] if path is None else cite_matrix(read_matrix(Path(path)), scorecard)


def cite_matrix(powers: pd.DataFrame, scorecard: pd.DataFrame) -> list[str]:
    """Say of each critic that calls a system like real text which damages it would have found in as many texts.

    Parameters
    ----------
    powers
        Matrix of `read_matrix`.
    scorecard
        Scorecard table, of any number of corpora.
    """
    like = scorecard[(scorecard["verdict"] == LIKE) & (scorecard["system"] != SPLIT_HALF)]
    several = scorecard["corpus"].nunique() > 1
    sentences = []
    for (corpus, critic), cells in like.groupby(["corpus", "critic"], sort=False):
        name = f"{critic} on {corpus}" if several else str(critic)
        sentences.append(f"{name}: {' '.join(_describe_cells(cells, powers[powers['critic'] == critic]))}")
    return sentences


def list_found_damages(path: str | None, scorecard: pd.DataFrame) -> str:
    """Return the damages that the critics which call a system like real text would have found; "" if unknown.

    Parameters
    ----------
    path
        Matrix of sensitivity that the run cites; None, or a file that is gone: nothing is known.
    scorecard
        Rows of the scorecard table.
    """
    if path is None or not Path(path).exists():
        return ""
    powers, seen = read_matrix(Path(path)), dict[str, None]()
    for critic, cells in scorecard[scorecard["verdict"] == LIKE].groupby("critic", sort=False):
        rows = _select_powers(cells, powers[powers["critic"] == critic])
        seen |= dict.fromkeys(rows.loc[rows["power"] >= ENOUGH, "damage"])
    return list_damages(seen)


def _select_powers(cells: pd.DataFrame, powers: pd.DataFrame) -> pd.DataFrame:
    """Return a critic's powers against harms at the usual dose, for at most as many texts as its cells compare."""
    harms = select_harms(powers[powers["design"] == _DESIGN])
    harms = harms[harms["n"] <= cells[["n_reference", "n_candidate"]].min(axis=None)]
    if harms.empty:
        return harms
    dose = usual_dose(harms["dose"].unique())
    return harms[(harms["n"] == harms["n"].max()) & (harms["dose"] == dose)]


def _describe_cells(cells: pd.DataFrame, powers: pd.DataFrame) -> Iterator[str]:
    yield f"{', '.join(cells['system'])} {'is' if len(cells) == 1 else 'are'} like real text."
    rows = _select_powers(cells, powers)
    if rows.empty:
        n = int(cells[["n_reference", "n_candidate"]].min(axis=None))
        yield f"The cited matrix has no power of this critic for {n} texts or fewer."
        return
    is_seen = rows["power"] >= ENOUGH
    seen, unseen = (list_damages(rows.loc[mask, "damage"]) for mask in (is_seen, ~is_seen))
    n, dose = rows[["n", "dose"]].iloc[0]
    yield f"Among {n:.0f} texts per side with a dose of {dose:.0%}, it would have found: {seen or 'no damage'}."
    if unseen:
        yield f"It would have missed: {unseen}."
    if {*cells["signature"].map(_options_of)} != {*rows["signature"].map(_options_of)}:
        yield "The matrix is of this critic with other options."


def _options_of(signature: str) -> str:
    return str(signature).partition(_CRITIC)[2].partition(_SEED)[0]
