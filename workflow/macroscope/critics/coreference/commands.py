"""Command `macroscope critics make-environment`."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.errors import MacroscopeError


def make_environment(
    resolver: Annotated[str, typer.Option(help="Resolver: neuralcoref, or fastcoref.")],
    output: Annotated[Path, typer.Option(help="Folder of the virtual environment to make.")],
    pipeline: Annotated[str | None, typer.Option(help="Pipeline of spaCy that neuralcoref will load.")] = None,
) -> None:
    """Make the environment of an external resolver, without conda."""
    from macroscope.critics.coreference.environment import make_environment as run
    from macroscope.critics.coreference.plan import EXTERNAL_RESOLVERS

    if resolver not in EXTERNAL_RESOLVERS:
        raise MacroscopeError(f"--resolver {resolver}: no such resolver; choose one of {', '.join(EXTERNAL_RESOLVERS)}")
    run(resolver, output, pipeline)


COMMANDS = {"make-environment": make_environment}
