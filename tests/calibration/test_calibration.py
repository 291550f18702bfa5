"""A small part of the calibration: every promise has a simulation, and none is clearly broken.

`make calibration` runs all of it.
"""

import pytest

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.tidy import Estimate

from . import promises, running
from .setting import Case, Setting


@pytest.fixture(scope="module")
def table():
    return running.calibrate(0.006, 1)


def test_every_promise_has_a_null_and_a_truth(table):
    claims = [running.promise_kind(claim) for claim in table["claim"]]
    assert running.list_missing(list(zip(table["declared"], table["statistic"], claims, strict=True))) == []


def test_no_promise_is_clearly_broken(table):
    broken = table[table["verdict"] == "does not hold"]
    assert broken.empty, broken.to_string()


def test_every_tuple_has_a_case_of_its_own():
    assert {case.declared for case in promises.all_cases()} == set(promises.declared_tuples())


def test_a_statistic_without_a_simulation_is_an_error(monkeypatch):
    added = {"here:STATISTICS": (Statistic("mine", "something", "nothing differs"),)}
    monkeypatch.setattr(running, "declared_tuples", lambda: added)
    assert running.list_missing([("here:STATISTICS", "mine", "interval")]) == [
        "here:STATISTICS: 'mine' has no null in tests/calibration"
    ]


@pytest.mark.parametrize(
    ("low", "p", "verdict"), [(-1.0, 0.5, "holds"), (0.5, 0.5, "does not hold"), (-1.0, 0.001, "does not hold")]
)
def test_broken_promises_are_found(monkeypatch, low, p, verdict):
    """An interval that never holds its truth of 0, and a test that always rejects."""
    statistics = (Statistic("mine", "something", "nothing differs"),)
    monkeypatch.setattr(running, "declared_tuples", lambda: {"here:STATISTICS": statistics})
    setting = Setting(
        "s", lambda rng: ([Estimate("mine", 1.0, low, 2.0, p if p < 0.01 else rng.random())], {"mine": 0.0}), ("*",)
    )
    case = Case("here:STATISTICS", (setting,))
    monkeypatch.setattr(running, "all_cases", lambda: (case,))
    simulated = running.simulate_job(running.Job(0, 0, 0, 200))
    evaluated = running.evaluate(simulated, case, setting)
    evaluated = evaluated[evaluated["claim"] != "interval"] if p < 0.01 else evaluated[evaluated["claim"] == "interval"]
    # An interval that always holds its truth is conservative.
    assert set(evaluated["verdict"]) <= {verdict, "conservative"} - ({"conservative"} if verdict != "holds" else set())


def test_finished_runs_are_read_until_their_code_changes(monkeypatch, tmp_path):
    place = next(n for n, case in enumerate(promises.all_cases()) if "languages" in case.declared)
    first = running.simulate_job(running.Job(place, 0, 0, 2), tmp_path)
    monkeypatch.setattr(running, "_simulate", lambda job: first.assign(value=-1.0))
    assert running.simulate_job(running.Job(place, 0, 0, 2), tmp_path).equals(first)
    monkeypatch.setattr(running, "fingerprint", lambda modules: "other")
    assert set(running.simulate_job(running.Job(place, 0, 0, 2), tmp_path)["value"]) == {-1.0}


def test_seeds_of_a_setting_stay_when_others_are_added(monkeypatch):
    cases = promises.all_cases()
    place = next(n for n, case in enumerate(cases) if "languages" in case.declared)
    alone = running.simulate_job(running.Job(place, 0, 0, 1))
    monkeypatch.setattr(running, "all_cases", lambda: (cases[place],))
    assert running.simulate_job(running.Job(0, 0, 0, 1)).equals(alone)
