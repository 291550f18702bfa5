"""`macroscope systems <verb>`: documents -> samples."""

from typing import Annotated

import typer

from macroscope.cli.flags import Inputs, OptionsJson, Output, StageName, Values, run_declared
from macroscope.cli.verbs import Verbs

app = typer.Typer(
    help="Generate samples and match their lengths: jobs of the workflow.", no_args_is_help=True, cls=Verbs
)


@app.command()
def run(
    kind: Annotated[str, typer.Option(help="Kind of the system.")],
    stage: StageName,
    output: Output,
    options: OptionsJson = "{}",
    inputs: Inputs = None,
    values: Values = None,
) -> None:
    """Run a stage of a kind of system, such as 'generate', which makes its samples."""
    from macroscope.registry import require
    from macroscope.systems import kinds
    from macroscope.systems.declaration import GENERATE

    run_declared(require(kind, kinds(), "kind of system"), stage, options, inputs, values, output)
    if stage == GENERATE:
        from macroscope.systems.formats import check_samples

        check_samples(kind, output)


@app.command()
def match(
    stage: StageName, output: Output, options: OptionsJson = "{}", inputs: Inputs = None, values: Values = None
) -> None:
    """Run a stage that cuts texts to matched length, or that compares lengths."""
    from macroscope.plan.matched_lengths import PACKAGE, STAGES
    from macroscope.registry import require
    from macroscope.stages import run_stage

    run_stage(require(stage, STAGES, "stage"), PACKAGE, options, inputs or (), values or (), output)
