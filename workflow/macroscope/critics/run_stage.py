"""The run of a critic's stage from files, as the rules of the workflow call it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from macroscope.critics.cross_fitting import first_fold, run_by_fold
from macroscope.critics.declaration import Critic, signature, statistics_of
from macroscope.critics.first_texts import first_texts
from macroscope.critics.fold_options import count_folds
from macroscope.critics.outputs import check_output, check_statistics
from macroscope.critics.sentence_encoding import STAGE, SentenceEncoding
from macroscope.documents import Collection
from macroscope.options import Options
from macroscope.registry import Plugin
from macroscope.stages import arguments, require_written

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
    (`first_texts`). The stages of a cross-fitted critic run once for each fold (`cross_fitting`).

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
        given["options"] = _restricted(options, stage.option_names)
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
    """Run the stage that embeds sentences (`sentence_encoding.STAGE`); see `run_critic`.

    Parameters
    ----------
    options
        `SentenceEncoding` as JSON.
    """
    given = arguments(STAGE, inputs, values, accepted=_OF_SHARDS)
    _select_shard(given)
    STAGE.function("")(**given, options=SentenceEncoding.model_validate_json(options), output=output)
    require_written(STAGE, "", output)


def _select_shard(given: dict[str, Any]) -> None:
    """Replace the path of texts by the `Collection` of them, or of the shard that the values select."""
    shard, per_shard = (given.pop(key, None) for key in _OF_SHARDS)
    if given.get("texts") is not None:
        given["texts"] = Collection(given["texts"], shard or 0, per_shard)


def _restricted(options: Options, names: Iterable[str]) -> Options:
    """Return options with those that a stage does not read at their defaults."""
    return type(options)(**options.model_dump(include=set(names)))


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
