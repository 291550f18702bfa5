"""`macroscope criticize`: judge texts of your own against real ones, in one command."""

from pathlib import Path
from typing import Annotated

import typer


def criticize(
    reference: Annotated[
        list[Path], typer.Option(help="Real texts: JSON Lines, Parquet, CSV, or a folder; repeatable.")
    ],
    candidate: Annotated[list[Path], typer.Option(help="Texts to judge, in the same formats; repeatable.")],
    output: Annotated[Path, typer.Option(help="Folder for the config, the results and the report.")],
    critic: Annotated[
        list[str] | None, typer.Option(help="Critic; repeatable. Default: those that declare it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is random.")] = 1,
    cores: Annotated[str, typer.Option(help="Number of cores, or 'all'.")] = "all",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look at the texts, and stop.")] = False,
) -> None:
    """Judge texts of your own: whether they have the structure of the real ones.

    Looks at the texts first, in seconds, and says which critics can judge them. Then it writes OUTPUT/config.yaml, runs
    the workflow on it and prints the picture. Run again, it goes on where it was; a config that you have edited is
    used as it is.
    """
    from macroscope.criticize import run
    from macroscope.criticize.profile import table_of

    require_cores(cores)
    run.require_checkout()
    run.require_output(output)
    profile, profiles = run.profile_sides(reference, candidate)
    table = table_of(profile, profiles)
    print(table.to_string(max_colwidth=None))
    choice = run.choose(profile, profiles, critic or [])
    print("\n" + "\n".join([f"Critics: {', '.join(choice.asked)}.", *choice.reasons]))
    if choice.whole:
        print("None of them learns from the reference: all of it is the control.")
    config = run.implied_config(reference, candidate, choice, seed)
    if dry_run:
        run.plan_of(config)  # which says what a run would begin with
        return
    shown = table.rename_axis("property").reset_index()
    plan = run.criticize(config, shown, output, cores)
    # Not before the look: their imports take as long as it does.
    from macroscope.reporting.scorecard import legend, scorecard_text
    from macroscope.reporting.tables import read_scorecard, read_warnings

    tables = output / plan.results / "tables"
    print(f"\n{scorecard_text(read_scorecard(tables))}\n\n{legend(plan.config.statistics.margin)}")
    for critic_of, _, title, warning in read_warnings(tables).itertuples(index=False):
        print(f"\nWarning ({critic_of}, {title}): {warning}")
    texts = output / plan.results / "reader" / "index.html"
    print(f"\nReport: {output / plan.results / 'report.html'}\nTexts:  {texts}\nConfig: {output / 'config.yaml'}")


def require_cores(cores: str) -> None:
    """Check that `--cores` is a number above 0, or 'all'."""
    from macroscope.errors import MacroscopeError

    if cores != "all" and not (cores.isdecimal() and int(cores)):
        raise MacroscopeError(f"--cores {cores}: give a whole number above 0, or 'all'")
