"""`macroscope timeline`: numbers of several runs in their order, and the first change beyond chance."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.printing import Json, print_table

_TITLE = "macroscope timeline"
"""Title in the metadata of the figure."""


def timeline(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Finished runs in their order: FOLDER, FOLDER:SYSTEM or NAME=FOLDER. All systems of a run are points.",
        ),
    ],
    critic: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Critic, or pattern; repeatable. Default: all.")
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Statistic, or pattern; repeatable. Default: the detectability, c2st_auc."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="CSV to write as well.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="STEM", help="Figure to write: STEM.svg and STEM.pdf.")] = None,
    json: Json = False,
) -> None:
    """Compare the numbers of several runs in their order.

    The runs are of checkpoints, for example. The first change beyond chance is named: each point is tested against the
    previous and the first; all p-values are adjusted together (Holm).
    """
    from macroscope.tables import write_output
    from macroscope.timelines.changes import describe_first_change, find_first_change, make_table, shown_table
    from macroscope.timelines.points import read_points

    points = read_points(runs)
    table = make_table(points, critic or (), statistic or ())
    if figure is not None:
        from macroscope.plotting import require_replaceable_figure

        require_replaceable_figure(figure, _TITLE)
    if output is not None:
        write_output(table, output)
    if figure is not None:
        from macroscope.plotting import save
        from macroscope.timelines.figure import plot_timeline

        save(plot_timeline(table, find_first_change(table), 100 * points[0].run.confidence), figure, _TITLE)
    if json:
        print_table(table, json)
        return
    print(f"{shown_table(table).to_string()}\n\n{describe_first_change(table)}")
