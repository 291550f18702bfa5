"""`macroscope corpora <verb>`: raw files -> documents."""

import typer

app = typer.Typer(help="Raw files -> documents.", no_args_is_help=True)
