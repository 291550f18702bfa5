"""`macroscope critics <verb>`: documents -> latents, T(x)."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.flags import (
    Confidence,
    Corpus,
    Inputs,
    OptionsJson,
    Output,
    Permutations,
    Resamples,
    Seed,
    Signature,
    StageName,
    Values,
    resampling_of,
)

app = typer.Typer(help="Documents -> latents, T(x).", no_args_is_help=True)

Systems = Annotated[list[str], typer.Option(help="Name of a system; repeatable, the control among them.")]
LatentsOfEach = Annotated[list[Path], typer.Option(help="Latents of each (Parquet), in the same order.")]
ScoresOfEach = Annotated[list[Path] | None, typer.Option(help="Scores of each, where the critic has any.")]


@app.command()
def run(
    critic: Annotated[str, typer.Option(help="Name of the critic, or of a variant.")],
    stage: StageName,
    output: Output,
    inputs: Inputs = None,
    values: Values = None,
    options: OptionsJson = "{}",
    shard: Annotated[int, typer.Option(min=0, help="Number of the shard that is projected.")] = 0,
    documents_per_shard: Annotated[int | None, typer.Option(min=1, help="Default: all are one shard.")] = None,
) -> None:
    """Run a stage of a critic: train, fit_prior, project, score, explain, compare ..., or one of its own."""
    from macroscope.cli.flags import parse_options
    from macroscope.critics import critic_named
    from macroscope.critics.run_stage import run_critic

    found = critic_named(critic)
    parsed = parse_options(found.options, options)
    run_critic(found, stage, parsed, inputs or [], values or [], output, (shard, documents_per_shard))


@app.command()
def gather(
    shards: Annotated[list[Path], typer.Argument(help="Shards of latents (Parquet), in order.")], output: Output
) -> None:
    """Join the shards of a system's latents."""
    from macroscope.critics.latents import gather as run_gather

    run_gather(shards, output)


@app.command()
def two_sample_test(
    critic: Annotated[str, typer.Option(help="Name of the critic, or of a variant.")],
    system: Systems,
    latents: LatentsOfEach,
    output: Output,
    scores: ScoresOfEach = None,
    corpus: Corpus = "",
    signature: Signature = "",
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """How well single documents of every system can be told from real ones by what a critic sees of them."""
    from macroscope.critics import critic_named
    from macroscope.critics.two_sample_test import files_of, run_two_sample_tests

    run_two_sample_tests(
        critic_named(critic),
        files_of(system, latents, scores or []),
        output,
        corpus=corpus,
        signature=signature,
        resampling=resampling_of(0, 0, confidence, seed),
    )


@app.command()
def compare_pairs(
    critic: Annotated[str, typer.Option(help="Name of the critic, or of a variant.")],
    system: Systems,
    latents: LatentsOfEach,
    pair: Annotated[list[str], typer.Option(help="SYSTEM:OTHER; repeatable.")],
    statistics: Annotated[list[Path], typer.Option(help="Tidy statistics of these systems (CSV); repeatable.")],
    output: Output,
    scores: ScoresOfEach = None,
    corpus: Corpus = "",
    signature: Signature = "",
    resamples: Resamples = 2000,
    permutations: Permutations = 10000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """System against system: differences and ratios of every number of a critic, with intervals and p-values."""
    from macroscope.critics import critic_named
    from macroscope.critics.pairs import compare_pairs as run_compare_pairs
    from macroscope.critics.pairs import parse_pairs
    from macroscope.critics.two_sample_test import files_of

    run_compare_pairs(
        critic_named(critic),
        files_of(system, latents, scores or []),
        parse_pairs(pair, system),
        statistics,
        output,
        corpus=corpus,
        signature=signature,
        resampling=resampling_of(resamples, permutations, confidence, seed),
    )


@app.command("list")
def list_critics() -> None:
    """List the critics that are there, with their stages and where they come from."""
    from macroscope.critics import critics

    for name, found in critics().items():
        print(f"{name:16} {' '.join(found.data.stages)}  ({found.package})")


def _add_verbs() -> None:
    """Add the verbs that critics bring."""
    from macroscope.critics import critics
    from macroscope.stages import load

    for found in critics().values():
        for name, function in (load(found.data.commands, found.package) if found.data.commands else {}).items():
            app.command(name)(function)


_add_verbs()
