"""`macroscope reporting run`, `export`: numbers -> tables, figures, report, files for others to collect."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from macroscope.cli.flags import Inputs, Output, StageName, Values
from macroscope.cli.verbs import Verbs
from macroscope.printing import Json, print_records

app = typer.Typer(help="Make tables, figures and the report: jobs of the workflow.", no_args_is_help=True, cls=Verbs)
app.callback()(lambda: None)


@app.command()
def run(stage: StageName, output: Output, inputs: Inputs = None, values: Values = None) -> None:
    """Run a stage of reporting: tables, figures, report, reader, sensitivity."""
    from macroscope.registry import require
    from macroscope.reporting import PACKAGE, STAGES
    from macroscope.stages import run_stage

    run_stage(require(stage, STAGES, "stage"), PACKAGE, None, inputs or (), values or (), output)


Format = Literal["every-eval-ever"]
Relationship = Literal["first_party", "third_party", "collaborative", "other"]


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Finished run: FOLDER, or FOLDER:SYSTEM for one system.")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for a file per system.")],
    organization: Annotated[str, typer.Option(metavar="NAME", help="Name of those who evaluate.")],
    format: Annotated[Format, typer.Option(help="Format of the files.")] = "every-eval-ever",
    relationship: Annotated[Relationship, typer.Option(help="Your relationship to the models.")] = "other",
    json: Json = False,
) -> None:
    """Export the numbers of a run for others to collect.

    A file per system has the detectability by every critic, with its interval and its settings.
    """
    from macroscope.reporting.every_eval_ever import write_records
    from macroscope.runs.results import find_run

    numbers, system = find_run(run)
    paths = write_records(numbers, [system] if system else [], output, organization, relationship)
    print_records([{"file": str(path)} for path in paths], json)
