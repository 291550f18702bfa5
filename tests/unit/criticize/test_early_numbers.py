"""The numbers that `macroscope criticize` prints before its run ends."""

import pandas as pd
import pytest

from macroscope.config.schema import parse_config
from macroscope.criticize.early_numbers import HEADING, MOST_SYSTEMS, EarlyNumbers, describe_detectability
from macroscope.matched_length import matched_system
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.plan import Plan

CONFIG = {
    "run": "r",
    "corpora": {"real": {"source": "files", "files": ["real.jsonl"], "split": "test"}},
    "systems": {"mine": {"kind": "files", "files": ["mine.jsonl"]}},
    "critics": {"tendencies": {}, "strings": {}},
    "comparisons": [{"corpus": "real", "systems": ["mine"], "critics": ["tendencies", "strings"]}],
}


def _tests(values, n=100):
    rows = [(system, "c2st_auc", value, value - 0.1, min(1.0, value + 0.1)) for system, value in values.items()]
    rows += [(system, "c2st_auc_minimum_detectable", 0.6, None, None) for system in values]
    table = pd.DataFrame(rows, columns=["system", "statistic", "value", "ci_low", "ci_high"])
    return table.assign(n_reference=n, n_candidate=n)


def test_systems_stand_from_most_to_least_different_and_real_text_last():
    tests = _tests({SPLIT_HALF: 0.5, "near": 0.55, "far": 0.912, matched_system("far"): 0.9, CONTROL: 0.5})
    line = describe_detectability("tendencies", tests)
    assert line == ("  tendencies: far 91 % [81, 100]; near 55 % [45, 65]; real text against itself 50 % [40, 60]")


def test_small_halves_of_real_text_are_too_few_to_say():
    line = describe_detectability("tendencies", _tests({SPLIT_HALF: 0.22, "mine": 0.9}, n=20))
    assert line == "  tendencies: mine 90 % [80, 100]; real text against itself: too few to say"


def test_many_systems_are_counted():
    line = describe_detectability("strings", _tests({f"m{n}": 0.9 - n / 100 for n in range(MOST_SYSTEMS + 3)}))
    assert line.count("%") == MOST_SYSTEMS
    assert line.endswith("; 3 more below these")


@pytest.mark.parametrize("values", [{}, {SPLIT_HALF: 0.5}, {"mine": float("nan")}])
def test_without_a_number_there_is_no_line(values):
    assert describe_detectability("strings", _tests(values)) == ""


def test_each_critic_is_told_once_and_results_of_earlier_runs_are_not(tmp_path):
    plan = Plan(parse_config(CONFIG))
    (corpus,) = {corpus for _, corpus in plan.critics.chapters}
    paths = {name: tmp_path / plan.critics.place("two_sample_test", name, corpus=corpus) for name in CONFIG["critics"]}
    for path in paths.values():
        path.parent.mkdir(parents=True)
    _tests({"mine": 0.7}).to_csv(paths["strings"], index=False)
    news = EarlyNumbers(plan, tmp_path)
    assert news("two_sample_test_strings") == ""
    _tests({"mine": 0.8}).to_csv(paths["tendencies"], index=False)
    assert news("compare_tendencies") == ""
    assert news("two_sample_test_tendencies") == f"{HEADING}\n  tendencies: mine 80 % [70, 90]\n"
    assert news("two_sample_test_tendencies") == ""
    paths["strings"].unlink()
    _tests({"mine": 0.9}).to_csv(paths["strings"], index=False)
    assert news("two_sample_test_strings") == "  strings: mine 90 % [80, 100]\n"
