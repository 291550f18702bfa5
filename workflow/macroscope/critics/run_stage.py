"""A stage of any critic, run from files: what the standard rules of the workflow call."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from macroscope.critics.declaration import Critic, statistics_of
from macroscope.documents import Collection
from macroscope.registry import Plugin
from macroscope.stages import arguments

_OF_STATISTICS = ("corpus", "system", "signature", "resampling")
"""Values that the stage `compare` is given always: they stand in every row of its statistics."""


def run_critic(
    critic: Plugin[Critic],
    name: str,
    options: Any,
    inputs: Iterable[str],
    values: Iterable[str],
    output: Path,
    shard: tuple[int, int | None] = (0, None),
) -> None:
    """Run a stage of a critic.

    `project`, and any stage that works on a shard, is given a `Collection` as its `texts`; `compare` returns rows,
    which become tidy statistics here.

    Parameters
    ----------
    options
        What the stage uses of the critic's options.
    inputs, values
        "name=path" and "name=value"; see `stages.arguments`.
    shard
        Number of the shard that is looked at, and documents of a shard (None: all are one).
    """
    stage = critic.stage(name)
    compares = name == "compare"
    given = arguments(stage, inputs, values, _OF_STATISTICS if compares else ())
    if name == "project" or shard[1] is not None:
        given["texts"] = Collection(given["texts"], *shard)
    if stage.options:
        given["options"] = options
    if not compares:
        stage.function(critic.package)(**given, output=output)
        return
    from macroscope.statistics.declaration import declared
    from macroscope.statistics.pairing_keys import read_keys
    from macroscope.statistics.tidy import with_partners, write_statistics

    about = {key: given[key] for key in _OF_STATISTICS}
    control, latents = given.get("control_latents"), given.get("latents")
    if control and latents and control != latents:
        about["signature"] = with_partners(about["signature"], read_keys(control), read_keys(latents), about["system"])
    read = {key: value for key, value in given.items() if key in (*stage.input_names, *stage.value_names, "options")}
    table = stage.function(critic.package)(**read)
    for name in table["statistic"].unique():
        declared(statistics_of(critic), name)
    write_statistics(table, output, critic=critic.name, **about)
