"""`macroscope reporting <verb>`, `export`: numbers -> tables, figures, report, files for others to collect."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.verbs import Verbs
from macroscope.printing import Json, print_records

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


class Format(StrEnum):
    """Formats of collections of results."""

    EVERY_EVAL_EVER = "every-eval-ever"


class Relationship(StrEnum):
    """Relationship of those who evaluate to those who made the model."""

    FIRST_PARTY = "first_party"
    THIRD_PARTY = "third_party"
    COLLABORATIVE = "collaborative"
    OTHER = "other"


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Finished run: FOLDER, or FOLDER:SYSTEM for one system.")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for a file per system.")],
    organization: Annotated[str, typer.Option(metavar="NAME", help="Name of those who evaluate.")],
    format: Annotated[Format, typer.Option(help="Format of the files.")] = Format.EVERY_EVAL_EVER,
    relationship: Annotated[Relationship, typer.Option(help="Your relationship to the models.")] = Relationship.OTHER,
    json: Json = False,
) -> None:
    """Export the numbers of a run for others to collect.

    A file per system has the detectability by every critic, with its interval and its settings.
    """
    from macroscope.reporting.every_eval_ever import write_records
    from macroscope.reporting.finished_runs import find_run

    numbers, system = find_run(run)
    assert format is Format.EVERY_EVAL_EVER
    paths = write_records(numbers, [system] if system else [], output, organization, relationship.value)
    print_records([{"file": str(path)} for path in paths], json)
