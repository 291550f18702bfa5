"""The points of a timeline: systems of finished runs, with their names and their order."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from macroscope.errors import MacroscopeError
from macroscope.phrases import order_by_numbers
from macroscope.runs.results import Results, find_run

_RESULTS = "results"
_LAST_NUMBER = re.compile(r"(\d+)\D*$")


@dataclass(frozen=True)
class Point:
    """A point of a timeline.

    Attributes
    ----------
    name
        Name of the point, unique in the timeline.
    run
        Finished run.
    system
        Name of the system in the run.
    """

    name: str
    run: Results
    system: str


def read_points(arguments: Sequence[str]) -> list[Point]:
    """Read the points of a timeline.

    Parameters
    ----------
    arguments
        Runs in their order, each FOLDER or FOLDER:SYSTEM (see `find_run`), perhaps with a name in front: NAME=FOLDER. A
        run without a system has a point per system that is judged, in the order of its config. Names that differ in
        their numbers alone, such as step-900 and step-1000, are in the order of these.

    Returns
    -------
    list of Point
        Without names of their own, points have those of their systems, if these differ, or else those of the folders
        that were given.

    Raises
    ------
    MacroscopeError
        If there is no finished run, the points are fewer than two, or two have one name.
    """
    entries = [entry for argument in arguments for entry in _read(argument)]
    if len(entries) < 2:
        raise MacroscopeError(f"{len(entries)} points: a timeline needs two systems or more; give further runs")
    repeated = {system for system, number in Counter(system for _, _, _, system in entries).items() if number > 1}
    points = [
        Point(name or (_folder_name(folder) if system in repeated else system), run, system)
        for name, folder, run, system in entries
    ]
    for name, number in Counter(point.name for point in points).items():
        if number > 1:
            raise MacroscopeError(f"{number} points are called '{name}'; give each a name: NAME=FOLDER")
    return points


def positions(names: Sequence[str]) -> list[int]:
    """Return the positions of points: the last numbers in their names if these increase, or else 0, 1, 2 ..."""
    matches = [_LAST_NUMBER.search(name) for name in names]
    numbers = [int(match[1]) for match in matches if match]
    is_increasing = len(numbers) == len(names) and numbers == sorted(set(numbers))
    return numbers if is_increasing else list(range(len(names)))


def _read(argument: str) -> Iterator[tuple[str, str, Results, str]]:
    """Yield (name or "", folder, run, system) of the points of an argument."""
    name, sign, rest = argument.partition("=")
    has_name = bool(sign) and not Path(argument).exists()
    folder = rest if has_name else argument
    run, chosen = find_run(folder)
    systems = [chosen] if chosen else order_by_numbers(_list_judged(run))
    if has_name and len(systems) != 1:
        raise MacroscopeError(f"{argument}: one name for {len(systems)} systems; give one: NAME=FOLDER:SYSTEM")
    if not systems:
        raise MacroscopeError(f"{folder}: the run judges no system")
    for system in systems:
        yield (name if has_name else ""), folder, run, system


def _list_judged(run: Results) -> list[str]:
    """Return the judged systems of a run in the order of its config."""
    names = dict.fromkeys([*run.written_config["systems"], *sorted(run.named_systems)])
    return [name for name in names if name in run.named_systems and run.is_judged(name)]


def _folder_name(folder: str) -> str:
    """Return the name of a run by its folder: that of the folder which holds `results`, if the run is inside."""
    path = Path(folder if Path(folder).exists() else folder.rpartition(":")[0]).resolve()
    path = path.parent if path.is_file() else path
    return path.parents[1].name if path.parent.name == _RESULTS else path.name
