"""Summaries of powers: documents for 80 % power, the dose of 50 % power, selectivity, and a sentence per critic."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.two_sample_test import NO_DAMAGE
from macroscope.phrases import list_names
from macroscope.statistics.pairs import mover_difference
from macroscope.statistics.power import LEVEL, find_crossings
from macroscope.systems.perturbation.declaration import DAMAGES

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
    """Return the dose nearest to the usual one."""
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
    """Return the name of a damage in words."""
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
