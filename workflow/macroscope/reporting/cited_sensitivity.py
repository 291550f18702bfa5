"""Citations of a matrix of sensitivity: the damages that a critic would have found among as many texts."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from macroscope.critics.power import COLUMNS
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
    if absent := [name for name in (*COLUMNS, CHANGED) if name not in table]:
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
        mine = select_harms(powers[(powers["critic"] == critic) & (powers["design"] == _DESIGN)])
        name = f"{critic} on {corpus}" if several else str(critic)
        sentences.append(f"{name}: {' '.join(_describe_cells(cells, mine))}")
    return sentences


def _describe_cells(cells: pd.DataFrame, powers: pd.DataFrame) -> Iterator[str]:
    yield f"{', '.join(cells['system'])} {'is' if len(cells) == 1 else 'are'} like real text."
    n = int(cells[["n_reference", "n_candidate"]].min(axis=None))
    sizes = sorted(size for size in powers["n"].unique() if size <= n)
    if not sizes:
        yield f"The cited matrix has no power of this critic for {n} texts or fewer."
        return
    dose = usual_dose(powers["dose"].unique())
    rows = powers[(powers["n"] == sizes[-1]) & (powers["dose"] == dose)]
    is_seen = rows["power"] >= ENOUGH
    seen, unseen = (list_damages(rows.loc[mask, "damage"]) for mask in (is_seen, ~is_seen))
    yield f"Among {sizes[-1]} texts per side with a dose of {dose:.0%}, it would have found: {seen or 'no damage'}."
    if unseen:
        yield f"It would have missed: {unseen}."
    if {*cells["signature"].map(_options_of)} != {*powers["signature"].map(_options_of)}:
        yield "The matrix is of this critic with other options."


def _options_of(signature: str) -> str:
    """Return the part of a signature that says a critic's options."""
    return str(signature).partition(_CRITIC)[2].partition(_SEED)[0]
