"""Changes along a timeline: numbers with their intervals, and tests of each point against the previous and the first.

A test takes the intervals of two points and combines them by MOVER (`statistics.pairs.mover_difference`; Zou and Donner
2008), which assumes that the samples of the points are independent. The reference is shared: its peculiarities, and
prompts that points share, move both numbers in the same direction, so that the tests are conservative. The p-values of
all tests of a timeline are adjusted together (Holm 1979). So with probability 0.95 at least, no change is reported that
is due to chance, and none earlier than the first true one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd

from macroscope.errors import MacroscopeError
from macroscope.phrases import format_count, number
from macroscope.reporting.comparability import find_declaration, require_comparable
from macroscope.runs.numbers import Key, Number
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.p_values import holm
from macroscope.statistics.pairs import UNLIKE_SIZES, mover_difference
from macroscope.statistics.tidy import SIGNIFICANT, UNDEFINED
from macroscope.timelines.points import Point, positions

SERIES = ["corpus", "critic", "statistic"]
"""Columns that name a series of numbers over the points."""
PREVIOUS, FIRST = "previous", "first"
"""Points that a point is compared with."""
_NO_TEST = (UNDEFINED, UNDEFINED, "")
COLUMNS = [
    *("corpus", "critic", "statistic", "point", "position", "system", "value", "ci_low", "ci_high"),
    *("n_reference", "n_candidate"),
    *(f"{name}_{what}" for what in (PREVIOUS, FIRST) for name in ("change_from", "p_value", "p_adjusted")),
    "reason",
]
"""Columns of a timeline's table. `change_from_*` is the value minus that of the other point."""


@dataclass(frozen=True)
class Change:
    """The first change of a timeline that is beyond chance.

    Attributes
    ----------
    point
        Name of the point at which it shows.
    since
        `PREVIOUS` or `FIRST`: what the point differs from.
    corpus, critic, statistic
        Number that differs the most significantly there.
    change
        Value minus that of the other point.
    p_adjusted
        Its p-value, adjusted for all tests of the timeline.
    """

    point: str
    since: str
    corpus: str
    critic: str
    statistic: str
    change: float
    p_adjusted: float


def make_table(points: Sequence[Point], critics: Sequence[str] = (), statistics: Sequence[str] = ()) -> pd.DataFrame:
    """Return the numbers of all series over the points, with their tests; columns `COLUMNS`.

    Parameters
    ----------
    points
        Points in their order.
    critics, statistics
        Patterns of the names to include; default: the detectability by every critic.

    Raises
    ------
    MacroscopeError
        If no number matches, or two points cannot be compared.
    """
    places = positions([point.name for point in points])
    rows = [
        row
        for series in _find_series(points, critics, statistics or (C2ST_AUC,))
        for row in _rows(series, points, places)
    ]
    if not rows:
        raise MacroscopeError("the runs have no such statistic; their tables/statistics.csv have the names")
    table = pd.DataFrame(rows, columns=COLUMNS)
    tests = [f"p_value_{PREVIOUS}", f"p_value_{FIRST}"]
    adjusted = holm(table[tests].to_numpy().ravel()).reshape(-1, 2)
    return table.assign(**{name.replace("p_value", "p_adjusted"): adjusted[:, at] for at, name in enumerate(tests)})


def find_first_change(table: pd.DataFrame) -> Change | None:
    """Return the change at the earliest point with one that is beyond chance; None if there is none."""
    order = list(table["point"].unique())
    changes = [
        Change(point, since, corpus, critic, statistic, change, p)
        for since in (PREVIOUS, FIRST)
        for corpus, critic, statistic, point, change, p in table[
            [*SERIES, "point", f"change_from_{since}", f"p_adjusted_{since}"]
        ].itertuples(index=False, name=None)
        if p <= SIGNIFICANT
    ]
    return min(changes, key=lambda change: (order.index(change.point), change.p_adjusted), default=None)


def describe_first_change(table: pd.DataFrame) -> str:
    """Return a sentence about the first change, and about the tests."""
    tests = int(table[[f"p_value_{PREVIOUS}", f"p_value_{FIRST}"]].notna().sum().sum())
    of_tests = f"of {format_count(tests, 'test')} of points against the previous and the first, adjusted together"
    change = find_first_change(table)
    if change is None:
        return f"No change is beyond chance ({of_tests})."
    earlier = "the previous point" if change.since == PREVIOUS else "the first point"
    return (
        f"First change beyond chance: {change.point}, {change.critic} {change.statistic}"
        f" {change.change:+.3g} from {earlier} (adjusted p {change.p_adjusted:.2g}; {of_tests})."
    )


def shown_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers for readers: a row per point, a column per series, each value with its interval."""
    several = [name for name in SERIES if name == "critic" or table[name].nunique() > 1]
    shown = pd.Series(
        [
            "–" if np.isnan(value) else f"{number(value)} [{number(low)}, {number(high)}]"
            for value, low, high in table[["value", "ci_low", "ci_high"]].itertuples(index=False, name=None)
        ],
        index=pd.MultiIndex.from_frame(table[["point", *several]]),
    )
    wide = shown.unstack(several, sort=False)
    wide.columns = [" ".join(names) if isinstance(names, tuple) else names for names in wide.columns]
    return wide.rename_axis(index=None)


def _find_series(points: Sequence[Point], critics: Sequence[str], statistics: Sequence[str]) -> list[tuple[str, ...]]:
    """Return (corpus, critic, statistic) of the numbers of any point that match the patterns."""

    def matches(name: str, patterns: Sequence[str]) -> bool:
        return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)

    keys = (key for point in points for key in point.run.numbers if key[1] == point.system)
    return list(
        dict.fromkeys(
            (corpus, critic, statistic)
            for corpus, _, critic, statistic in keys
            if matches(critic, critics) and matches(statistic, statistics)
        )
    )


def _rows(series: tuple[str, ...], points: Sequence[Point], places: Sequence[int]) -> Iterator[list[object]]:
    """Yield the rows of a series, p-values not adjusted."""
    corpus, critic, statistic = series
    keys: list[Key] = [(corpus, point.system, critic, statistic) for point in points]
    numbers = [point.run.numbers.get(key) for point, key in zip(points, keys, strict=True)]
    is_sized = (declaration := find_declaration(critic, statistic)) is not None and declaration.sized
    defined: list[int] = []
    for at, (point, key, estimate) in enumerate(zip(points, keys, numbers, strict=True)):
        place = [*series, point.name, places[at], point.system]
        if estimate is None or not np.isfinite(estimate.interval).all():
            reason = estimate.reason if estimate else f"not there{point.run.explain_absence(key)}"
            shown = [*estimate.interval, *estimate.sizes] if estimate else [*[UNDEFINED] * 3, 0, 0]
            yield [*place, *shown, *[UNDEFINED] * 6, reason]
            continue
        if defined:
            require_comparable(points[defined[-1]].run, point.run, keys[defined[-1]], key)
        others = (defined[-1] if defined else None, defined[0] if len(defined) > 1 else None)  # previous, first
        tests = [_NO_TEST if earlier is None else _compare(estimate, numbers[earlier], is_sized) for earlier in others]
        changes = [value for change, p, _ in tests for value in (change, p, UNDEFINED)]
        yield [*place, *estimate.interval, *estimate.sizes, *changes, tests[0][2]]
        defined.append(at)


def _compare(number: Number, earlier: Number | None, is_sized: bool) -> tuple[float, float, str]:
    """Return the difference of two numbers, its p-value, and the reason why they are not compared."""
    assert earlier is not None
    if is_sized and number.sizes[1] != earlier.sizes[1]:
        return UNDEFINED, UNDEFINED, UNLIKE_SIZES
    if number.confidence != earlier.confidence:
        return UNDEFINED, UNDEFINED, "the intervals have different levels"
    value, _, _, p = mover_difference(number.interval, earlier.interval, number.confidence)
    return value, p, ""
