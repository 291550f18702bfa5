"""Checks of the outputs of a critic's stages: columns and types, ids in the order of the texts, usable numbers.

The stages of every critic are checked, built-in or plug-in. A wrong output is removed, so that no later job trusts it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.critics.declaration import Critic
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.registry import Plugin
from macroscope.stages import load

if TYPE_CHECKING:  # jobs that write other outputs need neither
    import pandas as pd
    import pyarrow as pa

LARGEST = 1e100
"""Largest magnitude of a number: sums of squares of larger ones overflow."""
INFINITE = "nll"
"""Beginning of the names of columns of scores that may be infinite: the prior may exclude a document."""


def check_output(critic: Plugin[Critic], stage: str, given: Mapping[str, Any], output: Path) -> None:
    """Check what a stage wrote; stages whose output has no schema are not checked.

    Parameters
    ----------
    given
        Arguments of the stage by name.

    Raises
    ------
    MacroscopeError
        If the output is wrong, with the critic, its package and the first fault.
    """
    check = _CHECKS.get(stage)
    if check is None:
        return
    try:
        check(critic, given, output)
    except MacroscopeError as error:
        output.unlink(missing_ok=True)
        raise MacroscopeError(f"{_stage_name(critic, stage)} wrote a wrong output: {error}") from None


def check_statistics(critic: Plugin[Critic], table: "pd.DataFrame") -> None:
    """Check the table that a stage `compare` returns: its columns, p-values in [0, 1], and ends of intervals.

    Raises
    ------
    MacroscopeError
        If it is wrong, with the critic, its package and the first fault.
    """
    fault = _fault_of_statistics(table)
    if fault:
        raise MacroscopeError(f"{_stage_name(critic, 'compare')} returned a wrong table: {fault}")


def _stage_name(critic: Plugin[Critic], stage: str) -> str:
    return f"the stage '{stage}' of the critic '{critic.name}' (package {critic.package})"


def _fault_of_statistics(table: Any) -> str:
    """Return what is wrong with a table of statistics; "" if it is right."""
    import pandas as pd

    from macroscope.statistics.tidy import ROWS

    if not isinstance(table, pd.DataFrame):
        return f"it is a {type(table).__name__}; return a data frame, as `tidy.rows_table` builds it"
    if missing := [name for name in ROWS if name not in table and name != "reason"]:
        return f"it has no column '{missing[0]}'"
    names = [name for name in ROWS if name not in ("statistic", "reason")]
    numbers = table[names].apply(pd.to_numeric, errors="coerce")
    if wrong := [name for name in names if (numbers[name].isna() & table[name].notna()).any()]:
        return f"the column '{wrong[0]}' has values that are not numbers"
    for row in numbers.assign(statistic=table["statistic"]).itertuples():
        if row.p_value < 0 or row.p_value > 1:
            return f"the p-value of '{row.statistic}' is {row.p_value:g}, which is not in [0, 1]"
        if row.ci_low > row.ci_high:
            return f"the interval of '{row.statistic}' ends before it begins ({row.ci_low:g}, {row.ci_high:g})"
    return ""


def _check_latents(critic: Plugin[Critic], given: Mapping[str, Any], output: Path) -> None:
    from macroscope.critics.latents import latents_schema, open_latents

    declared = load(critic.data.latents, critic.package) if critic.data.latents else latents_schema()
    with open_latents(output, declared) as file:
        _require_finite(file.iter_batches())
    _require_ids(_ids(output), given["texts"].ids(), "texts")


def _check_scores(critic: Plugin[Critic], given: Mapping[str, Any], output: Path) -> None:
    import pyarrow as pa

    from macroscope.critics.latents import open_latents

    with open_latents(output, pa.schema([pa.field("id", pa.string()), pa.field("nll", pa.float64())])) as file:
        if "units" not in file.schema_arrow.names:
            raise MacroscopeError(f"{output}: no column 'units'")
        _require_finite(file.iter_batches(), INFINITE)
    if given.get("latents"):
        _require_ids(_ids(output), _ids(given["latents"]), "latents")


def _check_attributions(critic: Plugin[Critic], given: Mapping[str, Any], output: Path) -> None:
    from macroscope.critics.attributions import SCHEMA
    from macroscope.critics.latents import open_latents

    open_latents(output, SCHEMA).close()
    if given.get("texts") is not None:
        _require_ids(_ids(output), given["texts"].ids(), "texts")


def _check_known_truth(critic: Plugin[Critic], given: Mapping[str, Any], output: Path) -> None:
    truth = read_json(output)
    if not isinstance(truth, dict) or not {"latent_ppl", "basis"} <= set(truth):
        raise MacroscopeError(f"{output}: not an object with 'latent_ppl' and 'basis'")


_CHECKS: Mapping[str, Callable[[Plugin[Critic], Mapping[str, Any], Path], None]] = {
    "project": _check_latents,
    "score": _check_scores,
    "attribute": _check_attributions,
    "known_truth": _check_known_truth,
}
"""Stage -> check of its output."""


def _ids(path: Path) -> list[str]:
    """Return the ids of a file, those of rows that follow each other once: a document may have several rows."""
    import pyarrow.parquet as pq

    return [name for name, _ in groupby(pq.read_table(path, columns=["id"])["id"].to_pylist())]


def _require_ids(ids: Sequence[str], expected: Sequence[str], whose: str) -> None:
    """Check that ids are those of the input, in its order."""
    if ids == expected:
        return
    first = next(n for n, pair in enumerate(zip_longest(ids, expected)) if pair[0] != pair[1])
    here, there = (f"{names[first]!r}" if first < len(names) else "none" for names in (ids, expected))
    raise MacroscopeError(
        f"it has the ids of {len(ids):,} documents, and the {whose} those of {len(expected):,}; document {first + 1:,}"
        f" is {here}, not {there}: write the rows of every document, in the order of the {whose}"
    )


def _require_finite(batches: Iterator["pa.RecordBatch"], infinite: str | None = None) -> None:
    """Check that no number is infinite or overflows; NaN stands for a value that is not defined.

    Parameters
    ----------
    infinite
        Beginning of the names of columns that may be infinite.
    """
    import numpy as np
    import pyarrow as pa

    row = 0
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            values = _flat(column)
            if not pa.types.is_floating(values.type):
                continue
            numbers = values.to_numpy(zero_copy_only=False)
            largest = min(LARGEST, float(np.finfo(numbers.dtype).max))
            wrong = ~(np.abs(numbers) <= largest) & ~np.isnan(numbers)
            if infinite is not None and name.startswith(infinite):
                wrong &= numbers != np.inf
            if wrong.any():
                raise MacroscopeError(
                    f"the column '{name}' has the number {numbers[wrong.argmax()]:g} in the rows from {row + 1:,} on;"
                    f" write finite numbers up to {LARGEST:g}, or NaN for a value that is not defined"
                )
        row += len(batch)


def _flat(column: "pa.Array") -> "pa.Array":
    """Return the values in a column of lists, of lists of lists and so on."""
    from pyarrow import types

    while any(is_list(column.type) for is_list in (types.is_list, types.is_large_list, types.is_fixed_size_list)):
        column = column.flatten()
    return column
