"""Flags of `macroscope <room> run`: one verb calls any stage of anything that declares its stages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:  # the command line must start at once
    from macroscope.registry import Declared

StageName = Annotated[str, typer.Option("--stage", help="Name of the stage.")]
OptionsJson = Annotated[str, typer.Option("--options", help="Options, as JSON.")]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", metavar="NAME=PATH", help="A file that the stage reads; repeatable.")
]
Values = Annotated[
    list[str] | None, typer.Option("--value", metavar="NAME=VALUE", help="A value that it reads; repeatable.")
]
Output = Annotated[Path, typer.Option(help="What to write.")]


def run_declared(
    declared: "Declared[Any]",
    stage: str,
    options: str,
    inputs: list[str] | None,
    values: list[str] | None,
    output: Path,
) -> None:
    """Run a stage of a source, a kind of system or a critic, with what the command line gives."""
    from macroscope.cli.options import parse_options
    from macroscope.stages import run_stage

    found = declared.stage(stage)
    parsed = parse_options(declared.options, options) if found.uses else None
    run_stage(found, declared.package, parsed, inputs or (), values or (), output)
