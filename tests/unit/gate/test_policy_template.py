"""A policy to start from: margins that a person would choose, and only numbers that both sides have."""

import shlex

import pytest
import yaml

from macroscope.errors import MacroscopeError
from macroscope.gate.evaluate import evaluate_policy, match_systems
from macroscope.gate.policy import read_policy
from macroscope.gate.policy_template import choose_pairs, write_starting_policy
from macroscope.runs.results import find_run

from .conftest import row, write_run


def auc(value, half, **others):
    return row(value, value - half, value + half, statistic="c2st_auc", **others)


@pytest.fixture
def starting(tmp_path):
    """Return a function that writes a starting policy from rows, and returns it with the entries that need more."""

    def write(rows, baseline=None, system=None):
        folder = write_run(tmp_path / "run", rows)
        comparison = choose_pairs(find_run(str(folder))[0], system)
        if baseline is not None:
            comparison = match_systems(find_run(str(write_run(tmp_path / "old", baseline))), find_run(str(folder)))
        path = tmp_path / "a start.yaml"
        few = write_starting_policy(comparison, path)
        read_policy(path)  # it is valid
        return yaml.safe_load(path.read_text()), few, path.read_text()

    return write


def verdict(tmp_path, before, after):
    """Return the verdict of the starting policy on two runs."""
    folders = [str(write_run(tmp_path / name, rows)) for name, rows in (("before", before), ("after", after))]
    comparison = match_systems(*map(find_run, folders))
    return evaluate_policy(comparison, read_policy(tmp_path / "a start.yaml")).verdict


@pytest.mark.parametrize(
    ("after", "half", "expected"),
    [
        (0.49, 0.06, "PASS"),
        (0.98, 0.02, "FAIL"),  # from chance to nearly always
        (0.70, 0.03, "FAIL"),
        (0.30, 0.03, "PASS"),  # for the better
    ],
)
def test_it_can_fail_and_equals_pass(starting, tmp_path, after, half, expected):
    policy, few, _ = starting([auc(0.49, 0.06)])
    assert policy["statistics"] == [
        {"critic": "coherence", "statistic": "c2st_auc", "corpus": "wiki", "worse": "higher", "difference": 0.1}
    ]
    assert few == 0
    assert verdict(tmp_path, [auc(0.49, 0.06)], [auc(after, half)]) == expected


def test_the_margin_of_the_runs_config_is_used(tmp_path):
    from .conftest import CONFIG

    config = {**CONFIG, "statistics": {"confidence": 0.95, "margin": 0.03}}
    folder = write_run(tmp_path / "run", [auc(0.5, 0.01)], config)
    write_starting_policy(choose_pairs(find_run(str(folder))[0], None), tmp_path / "p.yaml")
    assert read_policy(tmp_path / "p.yaml").statistics[0].difference == 0.03


def test_too_few_texts_are_said(starting):
    _, few, text = starting([auc(0.6, 0.15)])
    assert few == 1
    assert "two equal systems pass with 4.6 times as many texts" in text  # (0.15 * sqrt(2) / 0.1)^2 = 4.5, rounded up


def test_other_numbers_may_change_by_a_tenth(starting):
    policy, few, _ = starting([row(10, 9.8, 10.2)])
    [entry] = policy["statistics"]
    assert (entry["statistic"], entry["worse"], entry["ratio"]) == ("latent_nll", "any", 1.1)
    assert few == 0


def test_only_numbers_of_both_sides(starting):
    """A statistic without an interval, or of other numbers of texts, would be INCONCLUSIVE for ever."""
    rows = [auc(0.5, 0.05), auc(0.5, 0.05, system="b"), row(10, 9.8, 10.2, system="b"), row(10, 9.8, 10.2)]
    old = [auc(0.5, 0.05), auc(0.5, 0.05, system="b", n=50), row(10, 9.8, 10.2), row(9, 8.9, 9.1, system="b")]
    policy, _, _ = starting(rows, old)
    assert [(entry["statistic"], entry["system"]) for entry in policy["statistics"]] == [("c2st_auc", "lm")]


def test_a_system_without_the_number_is_left_out(starting):
    rows = [auc(0.5, 0.05), row("", "", "", system="b", statistic="c2st_auc", reason="too few texts")]
    policy, _, _ = starting([*rows, auc(0.5, 0.05, system="control")])
    assert [entry.get("system") for entry in policy["statistics"]] == ["lm"]


def test_runs_without_such_a_number_and_an_existing_file_are_one_sentence(starting, tmp_path):
    with pytest.raises(MacroscopeError, match="no critic has a statistic with an interval, of as many texts, on both"):
        starting([row("", "", "", statistic="c2st_auc")])
    (tmp_path / "a start.yaml").write_text("mine")
    with pytest.raises(MacroscopeError, match="exists already"):
        write_starting_policy(choose_pairs(find_run(str(tmp_path / "run"))[0], None), tmp_path / "a start.yaml")


def test_the_command_says_what_to_do_next(tmp_path, monkeypatch, capsys):
    import logging
    import sys

    from macroscope import cli

    folder = write_run(tmp_path / "run", [auc(0.6, 0.15)])
    start = tmp_path / "a start.yaml"
    monkeypatch.setattr(
        sys, "argv", ["macroscope", "gate", "--init", "--candidate", str(folder), "--policy", str(start)]
    )
    with pytest.raises(SystemExit) as done:
        cli.main()
    logging.getLogger("macroscope").handlers = []
    said = capsys.readouterr().out
    assert done.value.code == 0
    assert "1 of its entries needs more texts than these to pass" in said
    assert shlex.split(said)[-1] == str(start)
