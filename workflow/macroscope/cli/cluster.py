"""`macroscope cluster`: checks of a run against a Slurm cluster."""

import typer

from macroscope.cli.verbs import Verbs
from macroscope.printing import Json, print_json

app = typer.Typer(help="Check a run against a Slurm cluster.", no_args_is_help=True, cls=Verbs)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def check(context: typer.Context, json: Json = False) -> None:
    """Check that each job of a run can start: give the arguments of snakemake.

    For example: macroscope cluster check --workflow-profile slurm --configfile mine.yaml
    """
    from macroscope.execution.slurm import check_cluster

    notes = check_cluster(context.args)
    if json:
        print_json({"notes": notes})
    else:
        typer.echo("\n".join(notes))
