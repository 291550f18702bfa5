"""Sentences, table and gaps of courses from statistics whose differences are known."""

import numpy as np
import pandas as pd
import pytest

from macroscope.reporting.course import (
    course_table,
    describe_courses,
    describe_short_texts,
    find_course_gaps,
    summarise_courses,
)
from macroscope.reporting.course_figure import plot_courses
from macroscope.statistics.courses import BEGINNING, COURSE, TENTHS, change_name, tenth_name

MEASURES = {"tendencies": ("repetition", "new_words"), "strings": ("surprisal",)}


def _rows(system, critic, changes, p_values):
    """Return the statistics of a critic whose first measure changes as given; the others stay at 0."""
    rows = []
    for number, measure in enumerate(MEASURES[critic]):
        values = [0.0] * BEGINNING + (changes if number == 0 else [0.0] * len(changes))
        rows += [
            (tenth_name(measure, t), value, value - 0.05, value + 0.05, np.nan) for t, value in enumerate(values, 1)
        ]
        if system != "control":
            ps = p_values if number == 0 else [1.0] * len(p_values)
            later = zip(range(BEGINNING + 1, TENTHS + 1), values[BEGINNING:], ps, strict=True)
            rows += [(change_name(measure, t), value, value - 0.1, value + 0.1, p) for t, value, p in later]
    if system != "control":
        rows.append((COURSE, 5.0, np.nan, np.nan, min(p_values)))
    names = ["statistic", "value", "ci_low", "ci_high", "p_value"]
    return pd.DataFrame(rows, columns=names).assign(corpus="c", system=system, critic=critic, reason="")


def _statistics(changes, p_values, system="lm", others=1.0):
    flat = [0.0] * 8
    return pd.concat(
        [
            *(_rows("control", critic, flat, []) for critic in MEASURES),
            _rows(system, "tendencies", changes, p_values),
            _rows(system, "strings", flat, [others] * 8),
        ],
        ignore_index=True,
    )


def test_the_sentence_says_from_where_on_and_by_how_much():
    statistics = _statistics([0, 0, 0, 0.2, 0.2, 0.2, 0.2, 0.3], [1, 1, 1, 0.02, 0.01, 0.01, 0.01, 0.01])
    [(*_, sentence)] = describe_courses(course_table(statistics), "c", "lm")
    assert sentence == (
        "From their sixth tenth on, the texts of lm repeat themselves more than real texts do. In the last tenth,"
        " words that end a sequence of four seen before: +30.0 points since their beginning, against +0.0 points."
    )


def test_systems_that_do_the_same_share_a_sentence():
    late, later = [1] * 4 + [0.001] * 4, [1] * 6 + [0.001] * 2
    of_systems = {"a": ([0.2] * 8, late), "b": ([0.2] * 8, late), "c": ([0.2] * 8, later), "d": ([-0.2] * 8, later)}
    tables = [course_table(_statistics(*given, system=name)) for name, given in of_systems.items()]
    joined, alone = summarise_courses(pd.concat(tables), [("c", name) for name in of_systems])
    assert joined == (
        "The texts of 3 systems repeat themselves more than real texts do: those of a, b from their seventh tenth on;"
        " those of c from their ninth tenth on."
    )
    assert alone.startswith("From their ninth tenth on, the texts of d repeat themselves less than real texts do. In")


def test_p_values_are_adjusted_for_the_critics():
    # Holm: of two critics, the smaller p-value is doubled.
    statistics = _statistics([0.2] * 8, [0.03] * 8)
    table = course_table(statistics)
    tested = table[(table["measure"] == "repetition") & table["p_value"].notna()]
    assert tested["p_adjusted"].tolist() == pytest.approx([0.06] * 8)
    assert describe_courses(table, "c", "lm") == []


@pytest.mark.parametrize(
    ("p_values", "beginning"),
    [
        ([1, 1, 0.01, 1, 1, 1, 1, 1], "In their fifth tenth,"),
        ([1, 0.01, 0.01, 0.01, 1, 1, 1, 1], "In their fourth, fifth and sixth tenth,"),
        ([0.02, 1, 1, 1, 1, 1, 0.001, 0.001], "In their third tenth and from their ninth tenth on,"),
        ([1, 1, 1, 1, 1, 1, 1, 0.001], "In their last tenth,"),
    ],
)
def test_places_are_named(p_values, beginning):
    [(*_, sentence)] = describe_courses(course_table(_statistics([-0.2] * 8, p_values)), "c", "lm")
    assert sentence.startswith(f"{beginning} the texts of lm repeat themselves less")


@pytest.mark.parametrize(
    ("changes", "p_values", "words"),
    [
        ([0.2] * 8, [0.01] * 8, "(at matched length, too)"),
        ([0.2] * 8, [1, 1, 1, 1, 1, 1, 1, 0.01], "(at matched length, in their last tenth)"),
        ([0.2] * 8, [1.0] * 8, "(not at matched length)"),
        ([-0.2] * 8, [0.01] * 8, "(not at matched length)"),
    ],
)
def test_matched_length_stands_beside(changes, p_values, words):
    matched = _statistics(changes, p_values, system="lm@matched")
    statistics = pd.concat([_statistics([0.2] * 8, [0.01] * 8), matched[matched["system"] != "control"]])
    [(*_, sentence)] = describe_courses(course_table(statistics), "c", "lm")
    assert f"than real texts do {words}." in sentence


def test_texts_that_are_too_short_are_a_gap():
    reason = "3 of 9 texts, and 9 real ones, have 100 words or more; a course needs 8 prompts on each side"
    row = {"statistic": COURSE, "value": np.nan, "ci_low": np.nan, "ci_high": np.nan, "p_value": np.nan}
    statistics = pd.DataFrame([{**row, "corpus": "c", "system": "lm", "critic": "strings", "reason": reason}])
    assert course_table(statistics).empty
    [gap] = find_course_gaps(statistics, "c", "lm")
    assert gap.note == f"too few texts: {reason}"


def test_systems_without_any_course_are_named_with_what_texts_need():
    statistics = _statistics([0.2] * 8, [0.01] * 8)
    assert describe_short_texts(statistics, [("c", "control"), ("c", "lm")]) == []
    undefined = {"statistic": COURSE, "corpus": "c", "value": np.nan, "reason": "few"}
    rows = [("lm", "narrative"), ("short", "tendencies"), ("short", "narrative"), ("brief", "tendencies")]
    added = pd.DataFrame([{**undefined, "system": system, "critic": critic} for system, critic in rows])
    statistics = pd.concat([statistics, added])
    [sentence] = describe_short_texts(statistics, [("c", name) for name in ("control", "lm", "short", "brief")])
    assert sentence == (
        "No course of the texts of short, brief: too few of them, or of the real texts, have 100 words (tendencies) or"
        " 10 sentences (narrative)."
    )


def test_a_panel_per_measure():
    figure = plot_courses(course_table(_statistics([0.2] * 8, [0.01] * 8)), "lm", 95)
    titles = [axes.get_title("left").replace("\n", " ") for axes in figure.axes]
    assert [title.partition(":")[0] for title in titles] == ["tendencies", "tendencies", "strings"]
    assert titles[0].endswith("%")
