"""Flags of the verbs that run a declared stage."""

from pathlib import Path
from typing import Annotated

import typer

StageName = Annotated[str, typer.Option("--stage", help="Name of the stage.")]
OptionsJson = Annotated[str, typer.Option("--options", help="Options, as JSON; those left out have their defaults.")]
Output = Annotated[Path, typer.Option(help="What to write.")]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", help="NAME=PATH of a file or folder it reads; repeatable.")
]
Values = Annotated[list[str] | None, typer.Option("--value", help="NAME=VALUE of what else it reads; repeatable.")]
