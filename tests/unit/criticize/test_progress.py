"""The numbers that `macroscope criticize` prints before its run ends."""

import pandas as pd
import pytest

from macroscope.config.schema import parse_config
from macroscope.criticize.progress import HEADING, MOST_SYSTEMS, EarlyNumbers, describe_detectability
from macroscope.engine.tasks import Task
from macroscope.options import CONTROL, SPLIT_HALF, matched_system
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


def test_each_critic_is_told_when_its_tests_are_finished(tmp_path):
    plan = Plan(parse_config(CONFIG))
    (corpus,) = {corpus for _, corpus in plan.critics.chapters}
    news = EarlyNumbers(plan)

    def finish(critic, value, name="two_sample_test"):
        path = plan.critics.place("two_sample_test", critic, corpus=corpus)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        _tests({"mine": value}).to_csv(tmp_path / path, index=False)
        return news(Task(name, [], [], [path if name == "two_sample_test" else "x.csv"], "", []), tmp_path)

    assert finish("tendencies", 0.8, "compare") == ""
    assert finish("tendencies", 0.8) == f"{HEADING}\n  tendencies: mine 80 % [70, 90]\n"
    assert finish("strings", 0.9) == "  strings: mine 90 % [80, 100]\n"
