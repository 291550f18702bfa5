"""Error rates of a gate with the project's intervals on simulated texts (known truth)."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from macroscope.gate.decision import FAIL, PASS, at_confidence, difference
from macroscope.gate.evaluate import evaluate_policy, match_systems
from macroscope.gate.policy import Policy, Rule
from macroscope.options import CONTROL
from macroscope.runs.numbers import Number, parse_signature
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import share_interval
from macroscope.statistics.ratio import difference_interval, ratio_interval

from ...runs import make_run
from .conftest import CONFIG, SIGNATURE

RUNS = 400
KEY = ("wiki", "lm", "coherence", "latent_nll")
SIGNED = parse_signature(SIGNATURE)
LEVEL = 0.95
SLACK = 3 * math.sqrt(LEVEL * (1 - LEVEL) / RUNS)
"""Three standard errors of a share of `RUNS`."""


def texts(rng, n, mean=1.0):
    """Return skewed values of n texts."""
    return rng.gamma(2.0, mean / 2.0, n)


def interval_of(values, rng):
    """Return the interval of a mean, as in the comparison of scores."""
    return ratio_interval((values, np.ones(len(values))), LEVEL, 100, rng)


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [LEVEL, 0.99])
def test_the_interval_of_a_change_covers(wanted):
    """Test two independent collections of unequal sizes, at the run's level and at that for several tests."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(RUNS):
        intervals = [at_confidence(interval_of(texts(rng, n), rng), LEVEL, wanted, n) for n in (80, 40)]
        _, low, high = difference(intervals[1], intervals[0], wanted)
        covered += low <= 0 <= high
    slack = 3 * math.sqrt(wanted * (1 - wanted) / RUNS)
    assert wanted - slack <= covered / RUNS <= wanted + slack + 0.015  # intervals of few texts are wider


@pytest.mark.slow
def test_a_shared_control_makes_the_interval_conservative():
    """With the same real texts in both differences, the interval of their change is conservative."""
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(RUNS):
        real = texts(rng, 60)
        ones = np.ones(60)
        intervals = [
            difference_interval((real, ones), (texts(rng, 60), ones), Permutation((60, 60)), LEVEL, 100, rng)
            for _ in range(2)
        ]
        _, low, high = difference(intervals[1], intervals[0], LEVEL)
        covered += low <= 0 <= high
    assert covered / RUNS >= 0.97  # it counts the control's variance twice, though it cancels: 1.96 * sqrt(2) is 0.994


def run_of(name, intervals, n):
    """Return a finished run of a system whose statistics have these intervals."""
    numbers = {
        ("wiki", "lm", "coherence", statistic): Number(interval, (n, n), parse_signature(SIGNATURE))
        for statistic, interval in intervals.items()
    }
    return make_run(Path(name), CONFIG, numbers), None


def gate(rng, changes, tolerated, n=150):
    """Evaluate a gate on shares and means, some of which have changed for the worse."""
    runs = []
    for name, shift in (("before", dict.fromkeys(changes, 0.0)), ("after", changes)):
        intervals = {}
        for statistic, by in shift.items():
            if statistic.endswith("share"):
                intervals[statistic] = share_interval(rng.random(n) < 0.2 + by, np.ones(n), LEVEL)
            else:
                intervals[statistic] = interval_of(texts(rng, n) + by, rng)
        runs.append(run_of(name, intervals, n))
    rule = Rule(critic="coherence", statistic="*", worse="higher", difference=tolerated)
    return evaluate_policy(match_systems(*runs), Policy(statistics=[rule]))


SAME = {"latent_nll": 0.0, "posterior_kl": 0.0, "title_agreement_share": 0.0, "transition_error_share": 0.0}


@pytest.mark.slow
def test_equal_runs_pass_and_regressions_fail():
    rng = np.random.default_rng(3)
    same = [gate(rng, SAME, 0.5).verdict for _ in range(100)]
    assert same.count(PASS) >= 95
    worse = [gate(rng, SAME | {"title_agreement_share": 0.6}, 0.2).verdict for _ in range(100)]
    assert worse.count(FAIL) >= 95


@pytest.mark.slow
def test_all_intervals_of_a_gate_hold_simultaneously():
    """Any of four tests misses in at most 5 % of gates; without correction it would be 18 %."""
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(RUNS):
        result = gate(rng, SAME, 0.5, 60)
        missed += any(not test.interval[1] <= 0 <= test.interval[2] for test in result.tests)
    assert missed / RUNS <= 1 - LEVEL + SLACK


@pytest.mark.slow
def test_a_change_on_the_limit_seldom_passes():
    """A change exactly at the limit passes no more often than the level allows."""
    rng = np.random.default_rng(5)
    passed = sum(gate(rng, {"latent_nll": 0.3}, 0.3).verdict == PASS for _ in range(RUNS))
    assert passed / RUNS <= (1 - LEVEL) / 2 + SLACK


def farther(rng, means, sizes, tolerated):
    """Evaluate the distance of a mean from real text that both runs share."""
    measured = []
    for mean, n in zip((0.0, *means), sizes, strict=True):
        values = rng.normal(mean, 1, n)
        half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * values.std(ddof=1) / math.sqrt(n)
        measured.append(Number((values.mean(), values.mean() - half, values.mean() + half), (sizes[0], n), SIGNED))
    control, *systems = measured
    runs = [
        (make_run(Path(name), CONFIG, {KEY: number, (KEY[0], CONTROL, *KEY[2:]): control}), None)
        for name, number in zip(("before", "after"), systems, strict=True)
    ]
    rule = Rule(critic=KEY[2], statistic=KEY[3], worse="farther", difference=tolerated)
    return evaluate_policy(match_systems(*runs), Policy(statistics=[rule])).tests[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("means", "sizes"),
    [
        ((0.0, 1.0), (2000, 100, 2000)),
        ((0.0, 1.0), (100, 100, 100)),
        ((-0.5, 0.8), (100, 400, 400)),
        ((0.5, 0.8), (100, 100, 100)),
    ],
    ids=["from the control", "all alike", "opposite sides", "one side"],
)
def test_farther_covers_wherever_the_systems_lie(means, sizes):
    """Near the control the error of a distance is hidden; on opposite sides of it the control's error adds up."""
    rng, truth = np.random.default_rng(6), abs(means[1]) - abs(means[0])
    tests = [farther(rng, means, sizes, truth) for _ in range(1000)]
    assert np.mean([test.interval[1] <= truth <= test.interval[2] for test in tests]) >= LEVEL - 0.02
    assert np.mean([test.verdict == PASS for test in tests]) <= 0.04  # 2.5 %, and three standard errors
