"""`macroscope statistics <verb>`: latents, T(x) -> numbers with their uncertainty."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.flags import Confidence, Permutations, Resamples, Seed, resampling_of
from macroscope.cli.verbs import Verbs
from macroscope.printing import Json, print_table

app = typer.Typer(help="Test and correlate numbers of your own tables, or of a run.", no_args_is_help=True, cls=Verbs)

System = Annotated[str, typer.Option(help="Name of the system, for the table.")]
Output = Annotated[Path, typer.Option(help="Tidy CSV to write.")]


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
    json: Json = False,
) -> None:
    """Test differences in means, Kolmogorov-Smirnov, effect sizes and total variation of any columns, all adjusted."""
    from macroscope.statistics.columns import compare_columns, read_columns
    from macroscope.tables import write_output

    table = compare_columns(
        read_columns(reference),
        read_columns(candidate),
        column,
        resampling_of(resamples, permutations, confidence, seed),
    )
    if output is not None:
        write_output(table, output)
    print_table(table, json, left_out=("seed", "signature"), float_format="{:.4g}")


@app.command()
def correlate(
    statistics: Annotated[
        Path, typer.Option(help="Tidy statistics: results/<run>/tables/statistics.csv, or your own.")
    ],
    judgements: Annotated[str, typer.Option(help="Human scores: a CSV of your own, or 'mauve' or 'deng2022'.")],
    system: Annotated[
        list[str] | None,
        typer.Option(help="NAME=NAME in the table; repeatable. Default: systems with the same name in both."),
    ] = None,
    real_text: Annotated[
        str | None, typer.Option(help="Name in the table of text by people, for the control to count as well.")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="Corpus, if the statistics are of several.")] = None,
    output: Annotated[Path | None, typer.Option(help="CSV to write as well.")] = None,
    permutations: Permutations = 10000,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Correlate every statistic with human judgements of the same systems; all p-values are adjusted."""
    from macroscope.errors import UsageError
    from macroscope.options import Resampling
    from macroscope.statistics.system_ratings import correlate_file
    from macroscope.tables import write_output

    mapping: dict[str, str] = {}
    for pair in system or []:
        here, equals, there = pair.partition("=")
        if not (here and equals and there):
            raise UsageError(f"--system: {pair!r} is not NAME=NAME")
        if here in mapping:
            raise UsageError(f"--system: '{here}' is given twice")
        mapping[here] = there
    table = correlate_file(
        statistics,
        judgements,
        Resampling(permutations=permutations, confidence=confidence, seed=seed),
        mapping=mapping or None,
        real_text=real_text,
        corpus=corpus,
    )
    if output is not None:
        write_output(table, output)
    print_table(table, json, left_out=("corpus", "table", "seed", "signature", "spearman_abs", "pearson_abs"))
