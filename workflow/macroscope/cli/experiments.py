"""`macroscope experiments`: list the configs of published experiments, or copy one."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.printing import Json, print_json, print_records


def experiments(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Experiment to copy; without it, they are listed.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write the copy to; default: NAME.yaml in this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """List the configs of experiments, or copy one."""
    import shlex

    from macroscope.errors import MacroscopeError, nearest
    from macroscope.files import REPOSITORY, write_text

    available = {path.stem: path.read_text(encoding="utf-8") for path in sorted(REPOSITORY.glob("experiments/*.yaml"))}
    if name is None:
        titles = {name: text.partition("\n")[0].strip("# ") for name, text in available.items()}
        print_records([{"name": name, "experiment": title} for name, title in titles.items()], json)
        return
    if name not in available:
        raise MacroscopeError(f"there is no experiment '{name}'{nearest(name, available)}")
    path = output or Path(f"{name}.yaml")
    if path.exists():
        raise MacroscopeError(f"{path}: exists already; give another --output")
    write_text(path, available[name])
    command = f"macroscope run --config {shlex.quote(str(path))}"
    if json:
        print_json({"file": str(path), "command": command})
    else:
        typer.echo(f"Wrote {path}; edit it, then run: {command}")
