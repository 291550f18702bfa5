"""The run of a critic's stage from files, as the rules of the workflow call it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.critics.cross_fitting import first_fold, run_by_fold
from macroscope.critics.declaration import Critic, signature, statistics_of
from macroscope.critics.latents import first_texts
from macroscope.critics.options import EMBEDDING_STAGE, SentenceEncoding, count_folds
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.options import Options
from macroscope.registry import Plugin
from macroscope.stages import arguments, load, require_written

if TYPE_CHECKING:  # jobs that write other outputs need neither
    import pandas as pd
    import pyarrow as pa


# ---- checks of outputs -----------------------------------------------------------------------------------------------
# The outputs of every critic, built-in or plug-in, are checked: columns and types, ids in the order of the texts, and
# usable numbers. A wrong output is removed, so that no later job trusts it.

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
    """Check the table that a stage `compare` returns: its columns, p-values in [0, 1], and ends of intervals."""
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


# ---- run stage -------------------------------------------------------------------------------------------------------

_OF_STATISTICS = ("corpus", "system", "resampling")
"""Values that the stage `compare` is always given: they stand in every row of its statistics."""
_COMPARED = ("control_latents", "latents")
_OF_SHARDS = ("texts_shard", "texts_per_shard")


def run_critic(
    critic: Plugin[Critic], name: str, options: Options, inputs: Iterable[str], values: Iterable[str], output: Path
) -> None:
    """Run a stage of a critic.

    A stage that reads `texts` is given a `Collection`: the shard of them that the values select, or all of them.
    A stage that reads a `signature` is given that of its options and versions, and of all stages upstream. The stage
    `compare` returns a table, which becomes tidy statistics here; it is given latents of one text per prompt
    (`latents.first_texts`). The stages of a cross-fitted critic run once for each fold (`cross_fitting`).

    Parameters
    ----------
    options
        The critic's options, as far as the stage reads or signs them; see `Critic.options_given`.
    inputs, values
        "name=path" and "name=value"; see `stages.arguments`. The values `texts_shard` and `texts_per_shard` select a
        shard of the texts. A stage that reads a signature is given either it or the value `seed`, which is signed.
    """
    stage = critic.stage(name)
    compares = name == "compare"
    reads_signature = compares or "signature" in stage.value_names
    values = list(values)
    signs = reads_signature and not any(value.startswith("signature=") for value in values)
    needed = dict.fromkeys((*stage.value_names, *(_OF_STATISTICS if compares else ()), *(("seed",) if signs else ())))
    needed.pop("signature", None)
    of_shards = _OF_SHARDS if "texts" in stage.input_names else ()
    given = arguments(stage, inputs, values, needed, (*of_shards, *(("signature",) if reads_signature else ())))
    _select_shard(given)
    if signs:
        given["signature"] = signature(critic, options, name, given["seed"])
    if stage.options:
        given["options"] = type(options)(**options.model_dump(include=set(stage.option_names)))
    accepted = {*stage.input_names, *stage.value_names, "options"}
    arguments_of_stage = {key: value for key, value in given.items() if key in accepted}
    function = stage.function(critic.package)
    if compares:
        with (
            first_fold(arguments_of_stage) as chosen,
            first_texts({key: chosen[key] for key in _COMPARED if key in chosen}) as compared,
        ):
            table = function(**chosen | compared)
            _write_statistics(critic, table, given | compared, output)
    else:
        run_by_fold(function, name, count_folds(critic.data, name, options), arguments_of_stage, output)
    require_written(stage, critic.package, output, given.get("evidence"))
    check_output(critic, name, given, output)


def run_embedding(options: str, inputs: Iterable[str], values: Iterable[str], output: Path) -> None:
    """Run the stage that embeds sentences (`critics.options.EMBEDDING_STAGE`); see `run_critic`.

    Parameters
    ----------
    options
        `SentenceEncoding` as JSON.
    """
    given = arguments(EMBEDDING_STAGE, inputs, values, accepted=_OF_SHARDS)
    _select_shard(given)
    EMBEDDING_STAGE.function("")(**given, options=SentenceEncoding.model_validate_json(options), output=output)
    require_written(EMBEDDING_STAGE, "", output)


def _select_shard(given: dict[str, Any]) -> None:
    """Replace the path of texts by the `Collection` of them, or of the shard that the values select."""
    shard, per_shard = (given.pop(key, None) for key in _OF_SHARDS)
    if given.get("texts") is not None:
        given["texts"] = Collection(given["texts"], shard or 0, per_shard)


def _write_statistics(critic: Plugin[Critic], table: Any, given: Mapping[str, Any], output: Path) -> None:
    from macroscope.statistics.declaration import match_declaration
    from macroscope.statistics.document_groups import read_keys
    from macroscope.statistics.tidy import NO_PAIRS, find_pairs, write_statistics

    check_statistics(critic, table)
    about = {key: given[key] for key in (*_OF_STATISTICS, "signature")}
    if "system" in table:  # rows that name none, added to those of a shared comparison, are of this system
        table = table.fillna({"system": about["system"]})
    control, latents = given.get("control_latents"), given.get("latents")
    pairing = NO_PAIRS
    if control and latents and control != latents:
        pairing = find_pairs(read_keys(control), read_keys(latents), about["system"])
    declarations = statistics_of(critic)
    for statistic in table["statistic"].unique():
        match_declaration(declarations, statistic)
    write_statistics(table, output, critic=critic.name, pairing=pairing, **about)
