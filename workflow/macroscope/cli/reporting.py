"""`macroscope reporting <verb>`: numbers -> tables, figures, report."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.verbs import Verbs

app = typer.Typer(help="Make tables, figures and the report: jobs of the workflow.", no_args_is_help=True, cls=Verbs)

Config = Annotated[Path, typer.Option(help="The effective config of the run (results/<run>/config.json).")]
Tables = Annotated[Path, typer.Option(help="Folder of the tables.")]


@app.command()
def tables(config: Config, output: Annotated[Path, typer.Option(help="Folder to write.")]) -> None:
    """Write all tables, as CSV and LaTeX."""
    from macroscope.reporting.tables import write_tables

    write_tables(config, output)


@app.command()
def figures(
    config: Config,
    tables: Tables,
    output: Annotated[Path, typer.Option(help="Folder to write.")],
    processes: Annotated[int, typer.Option(min=1, help="Figures that are plotted at the same time.")] = 1,
) -> None:
    """Plot all figures, as SVG and PDF."""
    from macroscope.reporting.figures import plot_figures

    plot_figures(config, tables, output, processes)


@app.command()
def report(
    config: Config,
    tables: Tables,
    figures: Annotated[Path, typer.Option(help="Folder of the figures.")],
    output: Annotated[Path, typer.Option(help="First page to write (HTML).")],
    pages: Annotated[Path, typer.Option(help="Folder of the other pages, beside it.")],
    times: Annotated[Path | None, typer.Option(help="Folder of the run's logs, for the times of the rules.")] = None,
) -> None:
    """Write the report: pages that open offline."""
    from macroscope.reporting.report import write_report

    write_report(config, tables, figures, output, pages, times)


@app.command()
def reader(config: Config, output: Annotated[Path, typer.Option(help="Folder to write.")]) -> None:
    """Write the reader: every text, and what the critics mark in it, in a folder that opens offline."""
    from macroscope.reporting.reader.writing import write_reader

    write_reader(config, output)


@app.command()
def sensitivity(config: Config, output: Annotated[Path, typer.Option(help="Folder to write.")]) -> None:
    """Write the page of a run with `sensitivity`: which damages each critic finds."""
    from macroscope.reporting.sensitivity import write_sensitivity

    write_sensitivity(config, output)
