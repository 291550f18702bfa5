"""`macroscope criticize`: judge texts of your own against real ones, in one command."""

from pathlib import Path
from typing import Annotated

import typer


def criticize(
    reference: Annotated[
        list[Path], typer.Option(help="Real texts: JSON Lines, Parquet, CSV, or a folder; repeatable.")
    ],
    candidate: Annotated[list[Path], typer.Option(help="Texts to judge, in the same formats; repeatable.")],
    output: Annotated[Path, typer.Option(help="Folder for the config, the results and the report.")],
    critic: Annotated[
        list[str] | None, typer.Option(help="Critic; repeatable. Default: those that declare it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is random.")] = 1,
    cores: Annotated[str, typer.Option(help="Number of cores, or 'all'.")] = "all",
) -> None:
    """Judge texts of your own: whether they have the structure of the real ones.

    Writes OUTPUT/config.yaml, runs the workflow on it and prints the headline. Run again, it goes on where it was.
    """
    from macroscope.plan import criticism
    from macroscope.reporting.headline import display_headline, read_headline
    from macroscope.reporting.tables import read_warnings

    if not critic:
        critic, reasons = criticism.asked_by_default(reference)
        for reason in reasons:
            print(reason)
    plan = criticism.criticize(reference, candidate, critic, output, seed, cores)
    tables = output / plan.results / "tables"
    print(display_headline(read_headline(tables)).drop(columns="Setting").to_string(index=False))
    for critic_of, _, title, warning in read_warnings(tables).itertuples(index=False):
        print(f"\nWarning ({critic_of}, {title}): {warning}")
    print(f"\nReport: {output / plan.results / 'report.html'}\nConfig: {output / 'config.yaml'}")
