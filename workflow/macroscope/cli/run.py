"""`macroscope run`, `macroscope demo`: run the workflow on a config."""

from pathlib import Path
from typing import Annotated

import typer

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of the context of a command that gives arguments which it does not know to Snakemake."""


def run(
    context: typer.Context,
    config: Annotated[Path, typer.Option(metavar="FILE", help="YAML file of the run.")],
) -> None:
    """Run the workflow on a config.

    Further arguments are those of snakemake. Results are written to the folder `results` of this folder. If parts fail,
    Snakemake runs a second time, for the report without them. For example:
    macroscope run --config mine.yaml --cores 4
    """
    from macroscope.config.schema import load_config
    from macroscope.execution.snakemake_command import run_snakemake

    load_config(config)  # reports its errors before Snakemake begins
    raise typer.Exit(run_snakemake(config, context.args))


def demo(
    context: typer.Context,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the results.")] = Path("macroscope-demo"),
) -> None:
    """Run a demonstration on real and simulated texts.

    A language model continues passages of Wikipedia, and every critic is checked on simulated corpora. It takes about 7
    minutes. Text and model come from the package index; without it, the checks alone are run.

    Further arguments are those of snakemake, such as --cores 4.
    """
    from macroscope.config.schema import load_config
    from macroscope.execution.snakemake_command import run_snakemake
    from macroscope.files import REPOSITORY, errors_about, require_folder
    from macroscope.plan import Plan

    config = REPOSITORY / "config.yaml"
    Plan(load_config(config)).require_extras()
    require_folder(output)
    with errors_about(output):
        output.mkdir(parents=True, exist_ok=True)
    typer.echo(f"Running the demonstration in {output}; the messages of Snakemake follow.")
    raise typer.Exit(run_snakemake(config, ["--directory", str(output), "--quiet", "rules", "host", *context.args]))
