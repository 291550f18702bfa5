"""`macroscope run`, `demo`, `experiments`, `cluster`: run the workflow, list its configs, check a cluster."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.verbs import Verbs
from macroscope.printing import Json, print_json, print_records

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
    from macroscope.options import MUST_EXIST

    is_elsewhere = any(word.startswith(("--directory", "-d", "--default-storage")) for word in context.args)
    load_config(config, None if is_elsewhere else MUST_EXIST)  # reports its errors before Snakemake begins
    raise typer.Exit(run_snakemake(config, context.args))


def demo(
    context: typer.Context,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the results.")] = Path("macroscope-demo"),
) -> None:
    """Run a demonstration on real and simulated texts.

    A language model continues passages of Wikipedia, and every critic is checked on simulated corpora. It takes about 5
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
    typer.echo(f"Running the demonstration in {output}.")
    raise typer.Exit(run_snakemake(config, ["--directory", str(output), *context.args]))


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


cluster = typer.Typer(help="Check a run against a Slurm cluster.", no_args_is_help=True, cls=Verbs)


@cluster.command(context_settings=PASSED_ON)
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
