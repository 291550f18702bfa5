"""`macroscope systems run --kind NAME --stage NAME`: documents -> samples."""

from typing import Annotated

import typer

from macroscope.cli.stage import Inputs, OptionsJson, Output, StageName, Values, run_declared

app = typer.Typer(help="Documents -> samples.", no_args_is_help=True)


@app.callback()
def _room() -> None:
    """Keep `run` a verb: without this, a single command would take the room's name."""


@app.command()
def run(
    kind: Annotated[str, typer.Option(help="Kind of the system.")],
    stage: StageName,
    output: Output,
    options: OptionsJson = "{}",
    inputs: Inputs = None,
    values: Values = None,
) -> None:
    """Run a stage of a kind of system, such as 'draw', which makes its samples."""
    from macroscope.registry import require
    from macroscope.systems import kinds

    run_declared(require(kind, kinds(), "kind of system"), stage, options, inputs, values, output)
