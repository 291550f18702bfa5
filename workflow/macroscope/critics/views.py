"""What a critic sees of every single document: `statistics.telling_apart` judges documents by it.

A critic with a prior sees what its scores hold: T(x) a state, the number of states, the posterior's entropy a state,
and what the document's latents consist of (`categories`). Another sees the numbers of its latents. One that sees more
declares so (`Critic.view`).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.critics.declaration import Critic
from macroscope.critics.thinning import thinned
from macroscope.errors import MacroscopeError
from macroscope.registry import Declared
from macroscope.stages import load
from macroscope.statistics.keys import KEYS
from macroscope.statistics.scores import CATEGORIES
from macroscope.statistics.telling_apart import View

ViewOf = Callable[[Path, Path | None], View]
"""(latents, scores where the critic has any) of a system -> what the critic sees of its documents."""


def view_of(critic: Declared[Critic]) -> ViewOf:
    """Function that tells what a critic sees of single documents."""
    if critic.data.view:
        found: ViewOf = load(critic.data.view, critic.package)
        return found
    return of_scores if critic.data.scores else of_numbers


def read_view(critic: Declared[Critic], latents: Path, scores: Path | None, seed: int) -> View:
    """What a critic sees of a system's documents: of very many a random part; see `critics.thinning`."""
    with thinned(latents, scores, seed) as files:
        return view_of(critic)(*files)


def of_scores(latents: Path, scores: Path | None) -> View:
    """T(x) a state, states, entropy a state, and categories; of the documents that the critic judges."""
    assert scores is not None  # this is the view of critics with a prior
    known = {*pq.read_schema(scores).names}
    wanted = [*KEYS, "nll", "units", "entropy", CATEGORIES]
    table = pd.read_parquet(scores, columns=[name for name in wanted if name in known])
    table = table[table["nll"].notna() & (table["units"] > 0)].reset_index(drop=True)
    numbers = [table["nll"] / table["units"], table["units"]]
    if "entropy" in table:
        numbers.append(table["entropy"] / table["units"])
    bags = ([() if some is None else tuple(some) for some in table[CATEGORIES]],) if CATEGORIES in table else ()
    return View(_keys(table), np.stack([column.to_numpy(float) for column in numbers], axis=1), bags)


def with_scores(view: View, latents: Path, scores: Path | None) -> View:
    """A view with what `of_scores` sees of the same documents beside it; NaN where it sees nothing."""
    scored = of_scores(latents, scores)
    at = pd.Index(scored.keys["id"]).get_indexer(view.keys["id"])
    beside = np.full((len(view), scored.numbers.shape[1]), np.nan)  # as many columns where nothing is scored
    beside[at >= 0] = scored.numbers[at[at >= 0]]
    return View(view.keys, np.concatenate([view.numbers, beside], axis=1))


def of_numbers(latents: Path, scores: Path | None) -> View:
    """Every column of numbers in the latents."""
    table = pd.read_parquet(latents)
    numbers = table.drop(columns=list(KEYS), errors="ignore").select_dtypes(["number", "bool"])
    if not len(numbers.columns):
        raise MacroscopeError(
            f"{latents}: no column of numbers to tell documents apart by; declare the critic's 'view'"
        )
    return View(_keys(table), numbers.to_numpy(float))


def _keys(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in KEYS if name in table]].reset_index(drop=True)
