"""`macroscope critics <verb>`: documents -> latents, T(x)."""

from typing import Annotated

import typer

from macroscope.cli.flags import Inputs, OptionsJson, Output, StageName, Values, parse_options

app = typer.Typer(help="Documents -> latents, T(x).", no_args_is_help=True)


@app.command()
def run(
    critic: Annotated[str, typer.Option(help="Name of the critic, or of a variant.")],
    stage: StageName,
    output: Output,
    inputs: Inputs = None,
    values: Values = None,
    options: OptionsJson = "{}",
) -> None:
    """Run a stage of a critic: train, fit_prior, project, score, explain, compare, two_sample_test, ..."""
    from macroscope.critics import get_critic
    from macroscope.critics.run_stage import run_critic

    plugin = get_critic(critic)
    run_critic(plugin, stage, parse_options(plugin.options, options), inputs or [], values or [], output)


@app.command("list")
def list_critics() -> None:
    """List the available critics, with their stages and packages."""
    from macroscope.critics import critics

    for name, plugin in critics().items():
        print(f"{name:16} {' '.join(plugin.data.stages)}  ({plugin.package})")


def _add_verbs() -> None:
    """Add the verbs that critics declare."""
    from macroscope.critics import critics
    from macroscope.stages import load

    for plugin in critics().values():
        for name, function in (load(plugin.data.commands, plugin.package) if plugin.data.commands else {}).items():
            app.command(name)(function)


_add_verbs()
