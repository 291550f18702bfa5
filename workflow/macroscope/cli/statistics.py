"""`macroscope statistics <verb>`: latents, T(x) -> numbers with their uncertainty."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.resampling import Confidence, Permutations, Resamples, Seed, resampling_of

app = typer.Typer(help="T(x) -> numbers with their uncertainty.", no_args_is_help=True)

Corpus = Annotated[str, typer.Option(help="Name of the corpus, for the table.")]
System = Annotated[str, typer.Option(help="Name of the system, for the table.")]
Output = Annotated[Path, typer.Option(help="Tidy CSV to write.")]
Signature = Annotated[str, typer.Option(help="What else changes the numbers, as key:value pairs joined by '|'.")]


@app.command()
def compare(
    reference: Annotated[Path, typer.Option(help="Scores of the control (Parquet).")],
    candidate: Annotated[Path, typer.Option(help="Scores of the system (Parquet).")],
    output: Output,
    corpus: Corpus = "",
    system: System = "",
    critic: Annotated[str, typer.Option(help="Name of the critic, for the table.")] = "",
    signature: Signature = "",
    resamples: Resamples = 2000,
    permutations: Permutations = 10000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """Latent NLL and PPL of a system, with intervals, and its difference to the control, with p-values."""
    from macroscope.statistics.comparison import compare_files

    compare_files(
        reference,
        candidate,
        output,
        corpus=corpus,
        system=system,
        critic=critic,
        signature=signature,
        resampling=resampling_of(resamples, permutations, confidence, seed),
    )


@app.command("test")
def run_tests(
    reference: Annotated[Path, typer.Option(help="Latents or scores of the reference (Parquet or CSV).")],
    candidate: Annotated[Path, typer.Option(help="The same of the candidate.")],
    column: Annotated[list[str] | None, typer.Option(help="Column; repeatable. Default: all numbers.")] = None,
    output: Annotated[Path | None, typer.Option(help="CSV to write as well.")] = None,
    resamples: Resamples = 2000,
    permutations: Permutations = 10000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """Differences in means, Kolmogorov-Smirnov, effect sizes and total variation of any columns, all adjusted."""
    from macroscope.files import atomic
    from macroscope.statistics.columns import compare_columns, read_columns

    table = compare_columns(
        read_columns(reference),
        read_columns(candidate),
        column,
        resampling_of(resamples, permutations, confidence, seed),
    )
    if output is not None:
        with atomic(output) as temporary:
            table.to_csv(temporary, index=False)
    shown = table.drop(columns=["seed", "signature"])
    typer.echo(shown.to_string(index=False, float_format="{:.4g}".format, na_rep="–"))


@app.command()
def perplexity(
    documents: Annotated[Path, typer.Option(help="NLL, tokens and words of each document (Parquet).")],
    output: Output,
    corpus: Corpus = "",
    system: System = "",
    signature: Signature = "",
    resamples: Resamples = 2000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
) -> None:
    """Perplexity per token and per word, with intervals."""
    from macroscope.statistics.comparison import perplexity_table

    perplexity_table(
        documents,
        output,
        corpus=corpus,
        system=system,
        signature=signature,
        resampling=resampling_of(resamples, 0, confidence, seed),
    )
