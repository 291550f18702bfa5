"""Timelines: points, tests with their level, the first change, and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import macroscope
from macroscope.cli import app
from macroscope.errors import MacroscopeError
from macroscope.gaps import FAILED, Gap, write_missing
from macroscope.statistics.p_values import holm
from macroscope.statistics.pairs import UNLIKE_SIZES, mover_difference
from macroscope.timelines.changes import describe_first_change, find_first_change, make_table, shown_table
from macroscope.timelines.figure import plot_timeline
from macroscope.timelines.points import positions, read_points
from tests.unit.gate.conftest import row, write_run

HALF = 0.05


def number(value, **others):
    return row(value, value - HALF, value + HALF, **{"statistic": "c2st_auc", **others})


@pytest.fixture
def make_runs(tmp_path):
    """Return a function that writes a run per value, and returns their folders."""

    def make(*values, **others):
        return [
            str(write_run(tmp_path / f"step-{at}" / "results" / "r", [number(value, **others)]))
            for at, value in enumerate(values)
        ]

    return make


def table_of(values, widths, series="s"):
    """Return the numbers of points as a table with their tests, from values and half widths of 95 % intervals."""
    intervals = [(value, value - width, value + width) for value, width in zip(values, widths, strict=True)]
    rows = []
    for at, interval in enumerate(intervals):
        others = (at - 1 if at else None, 0 if at > 1 else None)
        tests = [
            (np.nan, np.nan) if earlier is None else mover_difference(interval, intervals[earlier], 0.95)[::3]
            for earlier in others
        ]
        rows.append([series, "critic", "c2st_auc", at, *(value for test in tests for value in test)])
    names = ["corpus", "critic", "statistic", "point"]
    tests = ["change_from_previous", "p_value_previous", "change_from_first", "p_value_first"]
    table = pd.DataFrame(rows, columns=[*names, *tests])
    adjusted = holm(table[["p_value_previous", "p_value_first"]].to_numpy().ravel()).reshape(-1, 2)
    return table.assign(p_adjusted_previous=adjusted[:, 0], p_adjusted_first=adjusted[:, 1])


def test_holm_is_that_of_the_paper():
    # Holm (1979): the smallest p times n, the next times n - 1, ..., never below an earlier one.
    adjusted = holm([0.01, 0.04, np.nan, 0.03, 0.005])
    assert adjusted[[0, 1, 3, 4]] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert np.isnan(adjusted[2])
    assert holm([0.6, 0.9]) == pytest.approx([1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0.0, 0.1])
def test_without_a_change_one_is_found_in_at_most_a_twentieth(shared):
    rng = np.random.default_rng(3)
    runs, false_changes = 200, 0
    for _ in range(runs):
        errors = rng.normal(0, 0.1, 6) + rng.normal(0, shared)
        widths = 1.96 * np.hypot(0.1, shared) * np.ones(6)
        false_changes += find_first_change(table_of(errors, widths)) is not None
    assert false_changes / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_no_change_is_reported_before_the_first_true_one():
    rng = np.random.default_rng(4)
    early, seen, runs = 0, 0, 200
    for _ in range(runs):
        truth = np.array([0, 0, 0, 1, 1, 1.0])
        change = find_first_change(table_of(truth + rng.normal(0, 0.1, 6), 0.196 * np.ones(6)))
        early += change is not None and change.point < 3
        seen += change is not None and change.point == 3
    assert early / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert seen / runs >= 0.9


def test_the_first_change_is_the_earliest_point_that_differs(make_runs):
    table = make_table(read_points(make_runs(0.9, 0.89, 0.6, 0.55)))
    change = find_first_change(table)
    assert (change.point, change.since, change.critic) == ("step-2", "first", "coherence")
    assert change.change == pytest.approx(-0.3)
    value = mover_difference((0.6, 0.55, 0.65), (0.9, 0.85, 0.95), 0.95)[3]
    assert table["p_value_first"][2] == pytest.approx(value)
    assert change.p_adjusted == pytest.approx(5 * value)  # the smallest but one of 3 + 2 tests, and made monotone
    assert "First change beyond chance: step-2" in describe_first_change(table)


def test_without_one_the_sentence_says_so(make_runs):
    table = make_table(read_points(make_runs(0.9, 0.89, 0.9)))
    assert find_first_change(table) is None
    assert describe_first_change(table).startswith("No change is beyond chance (of 3 tests")


def test_a_slow_drift_shows_against_the_first(make_runs):
    table = make_table(read_points(make_runs(*np.linspace(0.9, 0.6, 9))))
    assert table["p_adjusted_previous"].dropna().min() > 0.05
    assert find_first_change(table).since == "first"


def test_points_that_lack_a_number_are_passed_over(tmp_path, make_runs):
    first, _, last = make_runs(0.9, 0.8, 0.5)
    middle = write_run(tmp_path / "without" / "results" / "r", [number(0.8, critic="topics")])
    write_missing([Gap(kind=FAILED, corpus="wiki", critic="coherence", explanation="no words")], middle / "tables")
    table = make_table(read_points([first, str(middle), last]), ["coherence"])
    assert table["reason"].tolist() == ["", "not there (failed: no words)", ""]
    assert table["change_from_previous"][2] == pytest.approx(-0.4)
    assert np.isnan(table["change_from_first"][2])  # the previous one is the first


def test_runs_that_do_not_compare_are_refused(tmp_path, make_runs):
    first, _ = make_runs(0.9, 0.8)
    changed = write_run(tmp_path / "changed", [number(0.8)], tokens=999)
    with pytest.raises(MacroscopeError, match="the corpus has changed"):
        make_table(read_points([f"a={first}", f"b={changed}"]))


def test_numbers_that_depend_on_sizes_need_equal_ones(tmp_path):
    folders = [
        write_run(tmp_path / str(n), [number(value, n=n, statistic="vocabulary_size", critic="tendencies")])
        for n, value in ((50, 0.9), (60, 0.5))
    ]
    table = make_table(read_points(list(map(str, folders))), statistics=["vocabulary_size"])
    assert table["reason"].tolist() == ["", UNLIKE_SIZES]
    assert table["p_value_previous"].isna().all()


def test_systems_of_a_run_are_points_in_the_order_of_their_numbers(tmp_path):
    names = ("s-1000", "s-200", "control", "s-90", "s-90@matched", "shuffled")
    folder = write_run(tmp_path / "run", [number(0.7, system=name) for name in names])
    config = json.loads((folder / "config.json").read_text())
    config["systems"]["shuffled"] = {"kind": "perturbation"}  # a check
    (folder / "config.json").write_text(json.dumps(config))
    assert [point.name for point in read_points([str(folder)])] == ["s-90", "s-200", "s-1000"]
    assert [point.name for point in read_points([f"new={folder}:s-200", f"{folder}:s-90"])] == ["new", "s-90"]


def test_systems_of_a_run_are_points_in_the_order_of_the_candidates(tmp_path):
    names = ("base", "sft", "dpo-2", "dpo-1")
    folder = write_run(tmp_path / "run", [number(0.7, system=name) for name in sorted(names)])
    config = json.loads((folder / "config.json").read_text())
    config["systems"] = {name: {"kind": "files"} for name in names}
    (folder / "config.json").write_text(json.dumps(config))
    assert [point.name for point in read_points([str(folder)])] == list(names)
    assert list(macroscope.timeline(folder).table["point"].unique()) == list(names)


def test_one_system_in_several_runs_is_named_after_the_folders(make_runs):
    assert [point.name for point in read_points(make_runs(0.5, 0.6))] == ["step-0", "step-1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{0}"], "1 points: a timeline needs two systems or more"),
        (["{0}", "{0}"], "2 points are called 'step-0'; give each a name"),
        (["{0}", "nowhere"], "nowhere: no such folder"),
        (["both={2}", "{0}"], "one name for 2 systems"),
    ],
)
def test_bad_points_are_one_sentence(arguments, message, tmp_path, make_runs):
    two = write_run(tmp_path / "two", [number(0.5, system="a"), number(0.5, system="b")])
    places = [*make_runs(0.5, 0.6), str(two)]
    with pytest.raises(MacroscopeError, match=message):
        read_points([argument.format(*places) for argument in arguments])


def test_positions_are_numbers_that_increase():
    assert positions(["step-90", "step-200"]) == [90, 200]
    assert positions(["v2", "v1"]) == [0, 1]
    assert positions(["a", "b2"]) == [0, 1]


@pytest.mark.slow
def test_the_command_prints_and_writes(make_runs, tmp_path):
    runs = make_runs(0.9, 0.6)
    files = ["--output", str(tmp_path / "t.csv"), "--figure", str(tmp_path / "t")]
    done = CliRunner().invoke(app, ["timeline", *runs, *files])
    assert done.exit_code == 0, done.output
    assert "step-1  0.6 [0.55, 0.65]" in done.output
    assert {"t.csv", "t.svg", "t.pdf"} <= {path.name for path in tmp_path.iterdir()}
    assert CliRunner().invoke(app, ["timeline", *runs, *files]).exit_code == 0  # its own files are replaced
    for suffix in (".svg", ".pdf"):
        (tmp_path / f"keep{suffix}").write_text("mine")
        with pytest.raises(MacroscopeError, match=rf"keep\{suffix}: exists, and is not an earlier output"):
            CliRunner().invoke(app, ["timeline", *runs, "--figure", str(tmp_path / "keep")], catch_exceptions=False)
        assert (tmp_path / f"keep{suffix}").read_text() == "mine"
        (tmp_path / f"keep{suffix}").unlink()
    printed = CliRunner().invoke(app, ["timeline", *runs, "--json"]).output
    assert [entry["point"] for entry in json.loads(printed)] == ["step-0", "step-1"]


@pytest.mark.slow
def test_the_figure_has_a_panel_per_statistic_and_a_line_per_critic(tmp_path):
    names = ("c2st_auc", "latent_nll")
    folders = [
        write_run(
            tmp_path / str(at),
            [number(0.7, critic=critic, statistic=name) for critic in ("topics", "coherence") for name in names],
        )
        for at in range(3)
    ]
    table = make_table(read_points(list(map(str, folders))), statistics=["c2st_auc", "latent_*"])
    figure = plot_timeline(table, None, 95)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["detectability", "latent_nll"]
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"topics", "coherence", "chance"}
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()] == ["0", "1", "2"]


def test_from_python_it_is_an_object(make_runs):
    runs = make_runs(0.9, 0.6)
    made = macroscope.timeline({"before": runs[0], "after": runs[1]}, critics="coherence", statistics="c2st_auc")
    assert made.first_change.point == "after"
    assert repr(made).startswith(shown_table(made.table).to_string())
    assert "<table" in made._repr_html_()
