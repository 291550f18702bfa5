"""Evaluation of a policy on two runs: all tests, with verdicts, reasons and the sample sizes that would decide."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from macroscope.errors import MacroscopeError, nearest
from macroscope.gate.decision import (
    INCONCLUSIVE,
    Tolerated,
    at_confidence,
    change_of_distance,
    combine_verdicts,
    decide,
    difference,
    distance,
    logarithm,
    sample_size_factor,
)
from macroscope.gate.policy import ANY, FARTHER, LOWER, Policy, Rule, require_matches
from macroscope.options import CONTROL, KEPT_NAMES
from macroscope.reporting.comparability import find_declaration, require_comparable
from macroscope.reporting.scorecard import WARNING
from macroscope.runs.numbers import Key, Number
from macroscope.runs.results import Results
from macroscope.statistics.bootstrap import Interval
from macroscope.statistics.pairs import DIFFERENCE, RATIO, UNLIKE_SIZES

VALUE = "value"
"""Measure of a test on the candidate's value itself, besides "difference" and "ratio"."""
NO_NUMBER: Interval = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Test:
    """A test of one statistic by one rule of the policy, with its result.

    Attributes
    ----------
    rule
        Index of the rule in the policy, from 0.
    corpus, critic, statistic, baseline, candidate
        Identification of the statistic; the last two are systems.
    measure
        "difference", "ratio" or "value".
    farther
        Whether the measure applies to distances from the control.
    tolerated
        Tolerated range, on the scale of the interval.
    interval
        (estimate, low, high), simultaneous with all other tests; NaN if undefined.
    sizes
        Documents of the baseline's system and of the candidate's.
    verdict, reason
        Verdict, and the reason if it is INCONCLUSIVE, with what gives the systems away beside structure.
    times
        Factor of the number of documents that would decide; None if no number would, or if the test is decided.
    """

    rule: int
    corpus: str
    critic: str
    statistic: str
    baseline: str
    candidate: str
    measure: str
    farther: bool
    tolerated: Tolerated
    interval: Interval = NO_NUMBER
    sizes: tuple[int, int] = (0, 0)
    verdict: str = INCONCLUSIVE
    reason: str = ""
    times: float | None = None


@dataclass(frozen=True)
class GateResult:
    """The result of a gate.

    Attributes
    ----------
    verdict
        FAIL if any test fails, else INCONCLUSIVE if any is, else PASS.
    tests
        All tests, with their results.
    confidence, each
        Simultaneous level of all intervals, and level of each.
    unused
        Indices of rules about systems that are not compared.
    """

    verdict: str
    tests: tuple[Test, ...]
    confidence: float
    each: float
    unused: tuple[int, ...]


class Undecided(Exception):
    """A test without an interval to decide by; the message has the reason."""


@dataclass(frozen=True)
class Comparison:
    """Two runs, and the pairs of their systems to compare."""

    baseline: Results
    candidate: Results
    systems: tuple[tuple[str, str], ...]

    @property
    def same_run(self) -> bool:
        return self.baseline.folder.resolve() == self.candidate.folder.resolve()

    def names(self) -> Iterator[tuple[str, Key]]:
        """Yield (baseline's system, (corpus, candidate's system, critic, statistic)) for statistics of either run."""
        for baseline_system, candidate_system in self.systems:
            names = [
                (corpus, critic, statistic)
                for run, wanted in ((self.baseline, baseline_system), (self.candidate, candidate_system))
                for corpus, system, critic, statistic in run.numbers
                if system == wanted
            ]
            for corpus, critic, statistic in dict.fromkeys(names):
                yield baseline_system, (corpus, candidate_system, critic, statistic)


def match_systems(baseline: tuple[Results, str | None], candidate: tuple[Results, str | None]) -> Comparison:
    """Match the systems of two runs: the given ones, or else all with equal names.

    Raises
    ------
    MacroscopeError
        If a run or system would be compared with itself, or a run lacks the other's system.
    """
    (baseline_run, baseline_system), (candidate_run, candidate_system) = baseline, candidate
    if baseline_system is None and candidate_system is None:
        pairs = tuple((name, name) for name in sorted(baseline_run.named_systems | candidate_run.named_systems))
        comparison = Comparison(baseline_run, candidate_run, pairs)
        if comparison.same_run:
            raise MacroscopeError(
                f"{baseline_run.folder}: a run cannot be compared with itself; give two of its systems, as in"
                " RUN:SYSTEM"
            )
        return comparison
    chosen = baseline_system or candidate_system or "", candidate_system or baseline_system or ""
    for run, name in zip((baseline_run, candidate_run), chosen, strict=True):
        if name not in run.named_systems:
            raise MacroscopeError(f"{run.folder}: no statistics of a system '{name}'{nearest(name, run.named_systems)}")
    comparison = Comparison(baseline_run, candidate_run, (chosen,))
    if comparison.same_run and chosen[0] == chosen[1]:
        raise MacroscopeError(
            f"{baseline_run.folder}: '{chosen[0]}' cannot be compared with itself; give two systems, as in RUN:SYSTEM"
        )
    return comparison


def evaluate_policy(comparison: Comparison, policy: Policy) -> GateResult:
    """Evaluate a policy on two runs.

    The intervals of all k tests hold simultaneously at the policy's confidence (Bonferroni): each has the level
    1 - (1 - confidence) / k.

    Parameters
    ----------
    comparison
        Runs, and pairs of systems to compare.
    policy
        Tolerated changes.

    Raises
    ------
    MacroscopeError
        If a rule matches no statistic of the runs, or the runs cannot be compared.
    """
    rules, runs = list(enumerate(policy.statistics)), (comparison.baseline, comparison.candidate)
    planned = [test for number, rule in rules for test in _plan_tests(number, rule, comparison)]
    failed = [test for number, rule in rules for test in _plan_failed(number, rule, comparison, planned)]
    require_matches(policy, {key for run in runs for key in run.numbers}, {test.rule for test in failed})
    planned += failed
    if not planned:
        raise MacroscopeError("no rule of the policy matches the compared systems; correct its patterns of 'system'")
    shared = (all(key in run.numbers for key, run in zip(_keys(test), runs, strict=True)) for test in planned)
    if not failed and not any(shared):
        raise MacroscopeError("the two runs have no statistic of the policy in common; correct its patterns")
    each = 1 - (1 - policy.confidence) / len(planned)
    tests = tuple(_add_warnings(_run_test(test, comparison, each), comparison) for test in planned)
    unused = tuple(sorted(set(range(len(policy.statistics))) - {test.rule for test in planned}))
    return GateResult(combine_verdicts(test.verdict for test in tests), tests, policy.confidence, each, unused)


def _plan_tests(number: int, rule: Rule, comparison: Comparison) -> Iterator[Test]:
    """Yield the tests of a rule; the control and its halves are tested only if the rule names them exactly."""
    for baseline, key in comparison.names():
        corpus, candidate, critic, statistic = key
        if rule.matches(*key) and (candidate not in KEPT_NAMES or rule.system == candidate):
            yield from _tests(rule, partial(Test, number, corpus, critic, statistic, baseline, candidate))


def _plan_failed(number: int, rule: Rule, comparison: Comparison, planned: Sequence[Test]) -> Iterator[Test]:
    """Yield the tests of a rule on what failed in either run, and of which neither run has a statistic.

    Their statistic, and their critic if a whole system or corpus failed, are the patterns of the rule.
    """
    tests = [test for test in planned if test.rule == number]
    covered = {(test.corpus, test.candidate, name) for test in tests for name in (None, test.critic)}
    for place, run in enumerate((comparison.baseline, comparison.candidate)):
        for entry, pair in product(run.missing, comparison.systems):
            key = (entry.corpus, pair[1], entry.critic)
            is_asked = rule.concerns(*key) and (pair[1] not in KEPT_NAMES or rule.system == pair[1])
            if is_asked and entry.system in (None, pair[place]) and key not in covered:
                covered.add(key)
                critic = entry.critic or rule.critic
                yield from _tests(rule, partial(Test, number, entry.corpus, critic, rule.statistic, *pair))


def _tests(rule: Rule, make_test: Callable[[str, bool, Tolerated], Test]) -> Iterator[Test]:
    """Yield a test for each limit of a rule."""
    farther = rule.worse == FARTHER
    if rule.difference is not None:
        yield make_test(DIFFERENCE, farther, _tolerated(rule.worse, rule.difference, -rule.difference))
    if rule.ratio is not None:
        yield make_test(RATIO, farther, _tolerated(rule.worse, rule.ratio, min(rule.ratio, 1 / rule.ratio)))
    if rule.limit is not None:
        yield make_test(VALUE, farther, _tolerated(rule.worse, rule.limit, rule.limit))


def _tolerated(worse: str, high: float, low: float) -> Tolerated:
    if worse == ANY:
        return Tolerated(low, high)
    return Tolerated(low=low) if worse == LOWER else Tolerated(high=high)


def _keys(test: Test) -> tuple[Key, Key]:
    return tuple((test.corpus, name, test.critic, test.statistic) for name in (test.baseline, test.candidate))  # type: ignore[return-value]


def _run_test(test: Test, comparison: Comparison, level: float) -> Test:
    """Return a test with its interval and verdict."""
    baseline_key, candidate_key = _keys(test)
    try:
        runs = comparison.baseline, comparison.candidate
        for key, run, role in zip(_keys(test), runs, ("baseline", "candidate"), strict=True):
            if key not in run.numbers:
                raise Undecided(f"the {role} does not have this statistic{run.explain_absence(key)}")
        require_comparable(*runs, baseline_key, candidate_key)
        baseline, candidate = comparison.baseline.numbers[baseline_key], comparison.candidate.numbers[candidate_key]
        test = replace(test, sizes=(baseline.sizes[1], candidate.sizes[1]))
        _require_interval(test, baseline, candidate)
        interval = _interval(test, comparison, level)
    except Undecided as error:
        return replace(test, reason=str(error))
    return _decide_test(test, interval)


def _add_warnings(test: Test, comparison: Comparison) -> Test:
    """Return a test whose reason names what gives its systems away beside structure."""
    systems = (comparison.baseline, test.baseline), (comparison.candidate, test.candidate)
    wrapped = [(name, run.written_config.get("wrapped", {}).get(name)) for run, name in systems]
    warnings = [f"{WARNING} {name}: {wrapper}" for name, wrapper in dict.fromkeys(wrapped) if wrapper]
    return replace(test, reason="; ".join(filter(None, [test.reason, *warnings])))


def _decide_test(test: Test, interval: Interval) -> Test:
    verdict = decide(interval, test.tolerated)
    test = replace(test, interval=interval, verdict=verdict)
    if verdict != INCONCLUSIVE:
        return test
    # The interval of a ratio is symmetric on the log scale.
    scaled = (interval, test.tolerated)
    if test.measure == RATIO:
        logs = [math.log(end) if end > 0 else -math.inf for end in (*interval, test.tolerated.low, test.tolerated.high)]
        scaled = (logs[0], logs[1], logs[2]), Tolerated(logs[3], logs[4])
    times = sample_size_factor(*scaled)
    reason = "the interval contains both tolerated and untolerated values"
    if times is None:
        reason += "; no number of documents would decide, because the estimate is on the limit"
    return replace(test, times=times, reason=reason)


def _require_interval(test: Test, baseline: Number, candidate: Number) -> None:
    """Check that a statistic is defined in both runs and has a confidence interval."""
    declaration = find_declaration(test.critic, test.statistic)
    if declaration is not None and declaration.spans:
        raise Undecided(f"its range is not a confidence interval ({declaration.spans})")
    for number, role in ((baseline, "baseline"), (candidate, "candidate")):
        if not math.isfinite(number.interval[0]):
            raise Undecided(f"undefined in the {role}: {number.reason or 'no reason given'}")
        if not np.isfinite(number.interval).all():
            raise Undecided(f"it has no interval in the {role}")


def _require_equal_sizes(test: Test, baseline: Number, candidate: Number) -> None:
    """Check that a statistic which depends on the number of documents has equal numbers in both runs."""
    declaration = find_declaration(test.critic, test.statistic)
    if declaration is not None and declaration.sized and baseline.sizes != candidate.sizes:
        raise Undecided(f"{UNLIKE_SIZES}: {baseline.sizes[1]} in the baseline, {candidate.sizes[1]} in the candidate")


def _interval(test: Test, comparison: Comparison, level: float) -> Interval:
    """Compute the interval of a test's measure at a level."""
    baseline_key, candidate_key = _keys(test)
    if test.measure == VALUE:
        compute = _distance_from_control if test.farther else _rescale
        return compute(comparison.candidate, candidate_key, level)
    if not test.farther and comparison.same_run and (recorded := _recorded(test, comparison.candidate, level)):
        return recorded
    _require_equal_sizes(test, comparison.baseline.numbers[baseline_key], comparison.candidate.numbers[candidate_key])
    if test.farther:
        joint = (1 + level) / 2  # level of each distance for both to hold at `level` (Bonferroni)
        candidate_distance, baseline_distance = (
            _distance_from_control(comparison.candidate, candidate_key, joint),
            _distance_from_control(comparison.baseline, baseline_key, joint),
        )
        require_comparable(
            comparison.baseline, comparison.candidate, _control_key(baseline_key), _control_key(candidate_key)
        )
        return change_of_distance(candidate_distance, baseline_distance)
    baseline, candidate = comparison.baseline, comparison.candidate
    if test.measure == DIFFERENCE:
        return difference(_rescale(candidate, candidate_key, level), _rescale(baseline, baseline_key, level), level)
    logs = difference(
        _rescale(candidate, candidate_key, level, True), _rescale(baseline, baseline_key, level, True), level
    )
    return _ratio(logs)


def _ratio(logs: Interval) -> Interval:
    """Return the interval of a ratio from that of its log; few texts at a high level can exceed the float range."""
    low, high = sys.float_info.min, sys.float_info.max
    if not math.log(low) < min(logs) <= max(logs) < math.log(high):
        raise Undecided("the interval of the ratio exceeds the range of numbers; use more texts, or a difference")
    return math.exp(logs[0]), math.exp(logs[1]), math.exp(logs[2])


def _control_key(key: Key) -> Key:
    return key[0], CONTROL, key[2], key[3]


def _distance_from_control(run: Results, key: Key, level: float) -> Interval:
    control = _control_key(key)
    if control not in run.numbers or not np.isfinite(run.numbers[control].interval).all():
        raise Undecided("the control does not have this statistic with an interval, so distances are undefined")
    return distance(_rescale(run, key, level), _rescale(run, control, level), level)


def _rescale(run: Results, key: Key, level: float, log: bool = False) -> Interval:
    """Return the interval of a statistic, rescaled to a level."""
    number = run.numbers[key]
    interval = logarithm(number.interval) if log else number.interval
    if interval is None:
        raise Undecided("a ratio needs values above 0, and an interval reaches 0; use a difference")
    return at_confidence(interval, _confidence(run, number.confidence), level, _smallest(number.sizes))


def _recorded(test: Test, run: Results, level: float) -> Interval | None:
    """Return the change from the run's table of pairs, which uses paired documents; None if absent in this measure."""
    name = (test.corpus, test.critic, test.statistic)
    forward = run.pairs.get((*name, test.candidate, test.baseline))
    measured = forward or run.pairs.get((*name, test.baseline, test.candidate))
    if measured is None or measured[0] != test.measure:
        return None
    number = measured[1]
    if not np.isfinite(number.interval).all():
        raise Undecided(number.reason or "the table of pairs has no interval for it")
    value, low, high = np.log(number.interval) if test.measure == RATIO else number.interval
    if forward is None:
        value, low, high = -value, -high, -low
    given = _confidence(run, number.confidence)
    interval = at_confidence((value, low, high), given, level, _smallest(number.sizes))
    return _ratio(interval) if test.measure == RATIO else interval


def _confidence(run: Results, recorded: float) -> float:
    """Return the level of an interval: that of its signature, or else of the run's config."""
    return recorded if math.isfinite(recorded) else run.confidence


def _smallest(sizes: tuple[int, int]) -> int:
    return min((n for n in sizes if n), default=2)
