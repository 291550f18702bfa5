"""A small part of the calibration: every promise has a simulation, and none is clearly broken.

`make calibration` runs all of it.
"""

import pandas as pd
import pytest

from macroscope.files import REPOSITORY
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.tidy import Estimate

from . import page, promises, running, store
from .setting import Case, Setting


@pytest.fixture(scope="module")
def table():
    return pd.concat(running.calibrate(running.list_settings(), 0.006, 1), ignore_index=True)


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


@pytest.fixture
def kept(tmp_path):
    """Return the rates of three runs of each setting of the shares of topics, as a calibration keeps them."""
    settings = running.list_settings("topic_shares")
    table = store.read_rates(tmp_path / "rates.csv")
    for setting, rates in zip(settings, running.calibrate(settings, 0.001, 1), strict=True):
        table = store.replace_rates(table, store.key_of(setting), rates, "2026-01-01")
    store.write_rates(tmp_path / "rates.csv", table)
    return settings, store.read_rates(tmp_path / "rates.csv")


def test_kept_settings_are_not_repeated_until_their_version_is_raised(kept):
    settings, table = kept
    assert store.list_outdated(table, settings) == []
    first = (table["declared"] == table["declared"][0]) & (table["setting"] == table["setting"][0])
    edited = table.assign(version=table["version"].where(~first, 0))
    assert [store.key_of(setting) for setting in store.list_outdated(edited, settings)] == [store.key_of(settings[0])]
    assert store.list_outdated(table[~first], settings) == [settings[0]]


def test_a_setting_is_replaced_in_its_place(kept):
    settings, table = kept
    rates = next(running.calibrate(settings[:1], 0.001, 1))
    replaced = store.replace_rates(table, store.key_of(settings[0]), rates, "2026-02-02")
    assert set(replaced["date"]) == {"2026-01-01", "2026-02-02"} or len(settings) == 1
    assert replaced.drop(columns="date").round(4).equals(table.drop(columns="date"))


def test_the_page_says_which_settings_are_of_an_earlier_version(kept):
    _, table = kept
    assert not any("the version was raised since" in text for text in page.render_pages(table).values())
    _, *modules = page.render_pages(table.assign(version=0)).values()
    assert modules
    assert all("Of 2026-01-01: the version was raised since" in text for text in modules)


def test_seeds_of_a_setting_stay_when_others_are_added(monkeypatch):
    cases = promises.all_cases()
    place = next(n for n, case in enumerate(cases) if "topic_shares" in case.declared)
    alone = running.simulate_job(running.Job(place, 0, 0, 1))
    monkeypatch.setattr(running, "all_cases", lambda: (cases[place],))
    assert running.simulate_job(running.Job(0, 0, 0, 1)).equals(alone)


def test_kept_rates_are_of_statistics_that_exist():
    """A module that moved takes its rates along: those of another name would not be read."""
    kept = pd.read_csv(REPOSITORY / "docs" / "generated" / "calibration.csv")["declared"]
    assert set(kept) <= set(promises.declared_tuples())
