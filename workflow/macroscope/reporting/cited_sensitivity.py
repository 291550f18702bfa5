"""Citations of a matrix of sensitivity: the damages that a critic would have found among as many texts."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from macroscope.critics.two_sample_test import POWER_COLUMNS
from macroscope.errors import MacroscopeError
from macroscope.options import SPLIT_HALF
from macroscope.reporting.scorecard import LIKE
from macroscope.reporting.sensitivity_summary import CHANGED, ENOUGH, list_damages, select_harms, usual_dose
from macroscope.tables import read_csv

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
    """Return the part of a signature that says a critic's options."""
    return str(signature).partition(_CRITIC)[2].partition(_SEED)[0]
