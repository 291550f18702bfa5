"""Flags that say what numbers are about."""

from typing import Annotated

import typer

Corpus = Annotated[str, typer.Option(help="Name of the corpus, for the table.")]
Signature = Annotated[str, typer.Option(help="What else changes the numbers, as key:value pairs joined by '|'.")]
