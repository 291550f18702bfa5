"""The course of the texts of a run: a table of curves, and sentences about courses unlike real text's."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.readings import Reading
from macroscope.gaps import TOO_FEW, Gap
from macroscope.options import SPLIT_HALF, matched_system, reference_of
from macroscope.phrases import format_count, group_names, list_names
from macroscope.statistics.courses import BEGINNING, COURSE, TENTHS, change_name, tenth_name
from macroscope.statistics.p_values import holm
from macroscope.statistics.tidy import SIGNIFICANT

INTERVAL = ("value", "ci_low", "ci_high")
COLUMNS = (
    *("corpus", "system", "critic", "measure", "tenth", *INTERVAL, "real", "real_low", "real_high"),
    *("change", "change_low", "change_high", "p_value", "p_adjusted"),
)
"""Columns of the table. `change`: change since the beginning of the texts, minus that of real texts. `p_value`: of the
change, for all tenths and measures of the critic together; `p_adjusted`: for all critics as well (Holm)."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "last")


def course_table(statistics: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each tenth, measure and system with a course: `COLUMNS`; empty if no critic has courses."""
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])[[*INTERVAL, "p_value"]].sort_index()
    tests = statistics[(statistics["statistic"] == COURSE) & (statistics["system"] != SPLIT_HALF)]
    tests = tests[tests["value"].notna()]
    adjusted = tests.groupby(["corpus", "system"], sort=False)["p_value"].transform(holm)
    rows = []
    for test, p_adjusted in zip(tests.itertuples(), adjusted, strict=True):
        critic, factor = str(test.critic), p_adjusted / test.p_value
        rows += [
            (test.corpus, test.system, critic, *numbers, min(1.0, numbers[-1] * factor))
            for numbers in _tenths(indexed, str(test.corpus), str(test.system), critic)
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _tenths(indexed: pd.DataFrame, corpus: str, system: str, critic: str) -> Iterator[tuple[object, ...]]:
    nothing = pd.Series(np.nan, indexed.columns)
    for measure in read_measures(critic):
        for tenth in range(1, TENTHS + 1):
            curve = tenth_name(measure, tenth)
            names = (system, curve), (reference_of(system), curve), (system, change_name(measure, tenth))
            keys = [(corpus, name, critic, statistic) for name, statistic in names]
            of_system, real, change = (indexed.loc[key] if key in indexed.index else nothing for key in keys)
            yield (measure, tenth, *of_system[list(INTERVAL)], *real[list(INTERVAL)], *change)


def read_measures(critic: str) -> dict[str, tuple[str, Reading]]:
    """Return measure -> its title and words, for a critic that has courses."""
    declared = get_critic(critic).data
    measures = declared.course.measures if declared.course is not None else {}
    return {name: (declared.quantities[f"{COURSE}_{name}"], reading) for name, reading in measures.items()}


def find_course_gaps(statistics: pd.DataFrame, corpus: str, system: str) -> list[Gap]:
    """Return the critics that have courses, but not of these texts, which are too short or too few."""
    rows = statistics[(statistics["corpus"] == corpus) & (statistics["system"] == system)]
    rows = rows[(rows["statistic"] == COURSE) & rows["value"].isna()]
    return [
        Gap(kind=TOO_FEW, corpus=corpus, system=system, critic=row.critic, reason="no course", explanation=row.reason)
        for row in rows.itertuples()
    ]


def describe_short_texts(statistics: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a sentence about the systems without a course by any critic, with what a text needs; none without any."""
    followed = set(course_table(statistics)[["corpus", "system"]].itertuples(index=False, name=None))
    gaps = [gap for pair in pairs if pair not in followed for gap in find_course_gaps(statistics, *pair)]
    courses = {str(gap.critic): get_critic(str(gap.critic)).data.course for gap in gaps}
    needs = group_names({name: f"{course.fewest} {course.pieces}" for name, course in courses.items() if course})
    long = " or ".join(f"{need} ({list_names(critics)})" for need, critics in needs.items())
    names = list_names([*dict.fromkeys(str(gap.system) for gap in gaps)])
    return [f"No course of the texts of {names}: too few of them, or of the real texts, have {long}."] if gaps else []


class CourseDifference(NamedTuple):
    """A measure whose course differs from that of real texts: what it does, where, and a sentence with its numbers."""

    clarity: float
    predicate: str
    place: str
    sentence: str


def summarise_courses(table: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield sentences about the clearest difference of each corpus and system, one for those that do the same."""
    alike: dict[tuple[str, str], dict[str, CourseDifference]] = {}
    for corpus, system in pairs:
        for clearest in describe_courses(table, corpus, system)[:1]:
            alike.setdefault((corpus, clearest.predicate), {})[system] = clearest
    for (_, predicate), systems in alike.items():
        if len(systems) == 1:
            yield from (each.sentence for each in systems.values())
            continue
        places = group_names({system: each.place for system, each in systems.items()})
        where = "; ".join(f"those of {list_names(names)} {place}" for place, names in places.items())
        yield f"The texts of {format_count(len(systems), 'system')} {predicate} than real texts do: {where}."


def describe_courses(table: pd.DataFrame, corpus: str, system: str) -> list[CourseDifference]:
    """Return each measure whose course differs from that of real texts, the clearest first.

    Parameters
    ----------
    table
        Table of `course_table`.
    """
    differences = []
    here = table[table["corpus"] == corpus]
    matched = here[here["system"] == matched_system(system)]
    for (critic, measure), rows in here[here["system"] == system].groupby(["critic", "measure"], sort=False):
        place = _find_place(rows)
        if place is None:
            continue
        tenths, above = place
        title, reading = read_measures(critic)[measure]
        at_matched = matched[(matched["critic"] == critic) & (matched["measure"] == measure)]
        changes = [_format_change(rows, name, tenths[-1], reading) for name in ("value", "real")]
        where, at_matched_length = _name_place(tenths), _compare_places(place, at_matched)
        predicate = reading.predicate(above)
        sentence = (
            f"{where.capitalize()}, the texts of {system} {predicate} than real texts do{at_matched_length}. In the"
            f" {_ORDINALS[tenths[-1] - 1]} tenth, {title}: {changes[0]} since their beginning, against {changes[1]}."
        )
        clarity = (rows["change"].abs() / (rows["change_high"] - rows["change"])).max()
        differences.append(CourseDifference(clarity, predicate, where + at_matched_length, sentence))
    return sorted(differences, key=lambda each: -each.clarity)


def _compare_places(place: tuple[list[int], bool], at_matched: pd.DataFrame) -> str:
    """Return in brackets where texts differ at matched length in the same direction; "" without a comparison."""
    if at_matched.empty:
        return ""
    again = _find_place(at_matched)
    if again is None or again[1] != place[1]:
        return " (not at matched length)"
    return f" (at matched length, {'too' if again == place else _name_place(again[0])})"


def _find_place(rows: pd.DataFrame) -> tuple[list[int], bool] | None:
    """Return the tenths that differ in the direction of the clearest one, and whether that is above; None without."""
    differs = rows[rows["p_adjusted"] < SIGNIFICANT]
    if differs.empty:
        return None
    above = bool(
        differs.loc[(differs["change"].abs() / (differs["change_high"] - differs["change"])).idxmax(), "change"] > 0
    )
    return differs.loc[(differs["change"] > 0) == above, "tenth"].tolist(), above


def _name_place(tenths: list[int]) -> str:
    """Return tenths in words, those up to the end as one: "in their third tenth and from their sixth tenth on"."""
    start = next(tenth for tenth in range(TENTHS, 0, -1) if tenth not in tenths) + 1
    late = f"from their {_ORDINALS[start - 1]} tenth on" if start < TENTHS else ""
    *before, name = [_ORDINALS[tenth - 1] for tenth in tenths if not late or tenth < start] or [""]
    early = f"in their {', '.join(before)}{' and ' if before else ''}{name} tenth" if name else ""
    return " and ".join(filter(None, (early, late)))


def _format_change(rows: pd.DataFrame, column: str, tenth: int, reading: Reading) -> str:
    """Return the change of a curve since the beginning, with its sign and unit."""
    curve = rows.set_index("tenth")[column]
    change = float(curve[tenth] - curve[:BEGINNING].mean())
    text = f"{100 * change:+.1f} points" if reading.unit == "%" else f"{change:+.2f} {reading.unit}"
    return text.replace("-", "−")


def course_figure(corpus: str, system: str) -> str:
    return f"{COURSE}_{corpus}_{system}"
