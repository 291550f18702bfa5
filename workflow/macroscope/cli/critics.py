"""`macroscope critics <verb>`: documents -> latents, T(x)."""

from functools import cache
from typing import Annotated, Any

import typer

from macroscope.cli.flags import Inputs, OptionsJson, Output, StageName, Values, parse_options
from macroscope.cli.verbs import DEVELOPERS, Verbs, name_types
from macroscope.printing import Json, print_records


class CriticVerbs(Verbs):
    """The verbs of this room and those that critics declare, which are imported only when a verb is looked up."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *_declared_verbs()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _declared_verbs().get(cmd_name)


@cache
def _declared_verbs() -> dict[str, Any]:
    """Return the verbs that critics declare, by name."""
    from macroscope.critics import critics
    from macroscope.stages import load

    declared = typer.Typer()
    declared.callback()(lambda: None)
    for plugin in critics().values():
        for name, function in (load(plugin.data.commands, plugin.package) if plugin.data.commands else {}).items():
            declared.command(name)(function)
    commands = dict(typer.main.get_group(declared).commands)
    for command in commands.values():
        name_types(command, command.params)
    return commands


app = typer.Typer(
    help="List the critics, and train and measure the resolver of coreference.", no_args_is_help=True, cls=CriticVerbs
)


@app.command(rich_help_panel=DEVELOPERS)
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


@app.command(rich_help_panel=DEVELOPERS)
def embed(output: Output, inputs: Inputs = None, values: Values = None, options: OptionsJson = "{}") -> None:
    """Embed the sentences of a collection, for all critics that read their vectors."""
    from macroscope.critics.run_stage import run_embedding

    run_embedding(options, inputs or [], values or [], output)


@app.command("list")
def list_critics(json: Json = False) -> None:
    """List the available critics, with their stages and packages."""
    from macroscope.critics import critics

    print_records(
        [
            {"name": name, "package": plugin.package, "stages": " ".join(plugin.data.stages)}
            for name, plugin in critics().items()
        ],
        json,
    )
