"""`macroscope systems <verb>`: documents -> samples."""

import typer

app = typer.Typer(help="Documents -> samples.", no_args_is_help=True)
