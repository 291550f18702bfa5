"""A policy held against two sides: every test with its verdict, its reason and the n that would decide."""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from macroscope.errors import MacroscopeError, nearest
from macroscope.gate.comparability import declaration_of, require_comparable
from macroscope.gate.decision import INCONCLUSIVE, Tolerated, decide, factor_that_decides, whole_verdict
from macroscope.gate.intervals import at_confidence, change_of_distance, difference, distance, logarithm
from macroscope.gate.policy import ANY, FARTHER, LOWER, Policy, Rule, require_matches
from macroscope.gate.runs import Key, Number, Run
from macroscope.options import CONTROL, KEPT_NAMES
from macroscope.statistics.bootstrap_t import Interval
from macroscope.statistics.pairs import DIFFERENCE, RATIO, UNLIKE_SIZES

VALUE = "value"
"""What is tested besides a difference or a ratio: the candidate's own value."""
NO_NUMBER: Interval = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Test:
    """One thing that the policy asks of one number, and the answer.

    Attributes
    ----------
    rule
        Place of the rule in the policy, from 0.
    corpus, critic, statistic, baseline, candidate
        Whose number; the last two are systems.
    measure
        "difference", "ratio" or "value"; `farther` where it is one of distances from the control.
    tolerated
        On the scale of the interval.
    interval
        (estimate, low, high), simultaneous with all other tests; NaN where there is none.
    sizes
        Documents of the baseline's system and of the candidate's.
    verdict, reason
        The answer, and why it is INCONCLUSIVE.
    times
        How many times as many documents would decide; None where none would, or where it is decided.
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
class Answer:
    """The whole answer.

    Attributes
    ----------
    verdict
        FAIL if any test fails, else INCONCLUSIVE if any is, else PASS.
    confidence, each
        Level of all intervals together, and of each.
    unused
        Rules that are about other systems than those that were chosen.
    """

    verdict: str
    tests: tuple[Test, ...]
    confidence: float
    each: float
    unused: tuple[int, ...]


class Undecided(Exception):
    """There is no interval to decide by; says why."""


@dataclass(frozen=True)
class Sides:
    """Two runs, and which system of the one is held against which of the other."""

    baseline: Run
    candidate: Run
    systems: tuple[tuple[str, str], ...]

    @property
    def same_run(self) -> bool:
        """Whether two systems of one run are compared."""
        return self.baseline.folder.resolve() == self.candidate.folder.resolve()

    def names(self) -> Iterator[tuple[str, Key]]:
        """(baseline's system, (corpus, candidate's system, critic, statistic)) of all numbers of either."""
        for first, second in self.systems:
            names = [
                (corpus, critic, statistic)
                for run, wanted in ((self.baseline, first), (self.candidate, second))
                for corpus, system, critic, statistic in run.numbers
                if system == wanted
            ]
            for corpus, critic, statistic in dict.fromkeys(names):
                yield first, (corpus, second, critic, statistic)


def sides_of(baseline: tuple[Run, str | None], candidate: tuple[Run, str | None]) -> Sides:
    """Which system is held against which: those that are given, or all of the same name.

    Raises
    ------
    MacroscopeError
        Where something would be held against itself, or a run lacks the system of the other.
    """
    (before, first), (after, second) = baseline, candidate
    if first is None and second is None:
        both = tuple((name, name) for name in sorted(before.systems | after.systems))
        sides = Sides(before, after, both)
        if sides.same_run:
            raise MacroscopeError(f"{before.folder}: a run against itself; name two of its systems, as in RUN:SYSTEM")
        return sides
    chosen = first or second or "", second or first or ""
    for run, name in zip((before, after), chosen, strict=True):
        if name not in run.systems:
            raise MacroscopeError(f"{run.folder}: no numbers of a system '{name}'{nearest(name, run.systems)}")
    sides = Sides(before, after, (chosen,))
    if sides.same_run and chosen[0] == chosen[1]:
        raise MacroscopeError(f"{before.folder}: '{chosen[0]}' against itself; name two systems, as in RUN:SYSTEM")
    return sides


def judge(sides: Sides, policy: Policy) -> Answer:
    """Hold two sides against a policy.

    The intervals of all tests hold together at the policy's confidence (Bonferroni): each of k is taken at
    1 - (1 - confidence) / k.

    Raises
    ------
    MacroscopeError
        Where a rule is about nothing that the runs have, or the runs cannot be compared.
    """
    require_matches(policy, {key for run in (sides.baseline, sides.candidate) for key in run.numbers})
    planned = [test for number, rule in enumerate(policy.statistics) for test in _planned(number, rule, sides)]
    if not planned:
        raise MacroscopeError("the policy is about no system that was chosen; mend its patterns of 'system'")
    runs = sides.baseline, sides.candidate
    if not any(all(key in run.numbers for key, run in zip(_keys(test), runs, strict=True)) for test in planned):
        raise MacroscopeError("the two sides have no statistic in common of those that the policy names")
    each = 1 - (1 - policy.confidence) / len(planned)
    answered = tuple(_answer(test, sides, each) for test in planned)
    unused = tuple(sorted(set(range(len(policy.statistics))) - {test.rule for test in planned}))
    return Answer(whole_verdict(test.verdict for test in answered), answered, policy.confidence, each, unused)


def _planned(number: int, rule: Rule, sides: Sides) -> Iterator[Test]:
    """Tests that a rule asks for; the control and its halves are judged only where the rule says their name."""
    for first, key in sides.names():
        corpus, second, critic, statistic = key
        if not rule.fits(*key) or (second in KEPT_NAMES and rule.system != second):
            continue
        whose = partial(Test, number, corpus, critic, statistic, first, second)
        farther = rule.worse == FARTHER
        if rule.difference is not None:
            yield whose(DIFFERENCE, farther, _tolerated(rule.worse, rule.difference, -rule.difference))
        if rule.ratio is not None:
            yield whose(RATIO, farther, _tolerated(rule.worse, rule.ratio, min(rule.ratio, 1 / rule.ratio)))
        if rule.limit is not None:
            yield whose(VALUE, farther, _tolerated(rule.worse, rule.limit, rule.limit))


def _tolerated(worse: str, high: float, low: float) -> Tolerated:
    if worse == ANY:
        return Tolerated(low, high)
    return Tolerated(low=low) if worse == LOWER else Tolerated(high=high)


def _keys(test: Test) -> tuple[Key, Key]:
    return tuple((test.corpus, name, test.critic, test.statistic) for name in (test.baseline, test.candidate))  # type: ignore[return-value]


def _answer(test: Test, sides: Sides, level: float) -> Test:
    """A test with its interval and verdict."""
    first, second = _keys(test)
    try:
        for key, run, what in ((first, sides.baseline, "baseline"), (second, sides.candidate, "candidate")):
            if key not in run.numbers:
                raise Undecided(f"the {what} has no such number")
        require_comparable(sides.baseline, sides.candidate, first, second)
        ours, theirs = sides.baseline.numbers[first], sides.candidate.numbers[second]
        test = replace(test, sizes=(ours.sizes[1], theirs.sizes[1]))
        _require_interval(test, ours, theirs)
        interval = _interval(test, sides, level)
    except Undecided as why:
        return replace(test, reason=str(why))
    return _decided(test, interval)


def _decided(test: Test, interval: Interval) -> Test:
    verdict = decide(interval, test.tolerated)
    test = replace(test, interval=interval, verdict=verdict)
    if verdict != INCONCLUSIVE:
        return test
    # What is wide in a ratio is symmetric in its log.
    scaled = (interval, test.tolerated)
    if test.measure == RATIO:
        logs = [math.log(end) if end > 0 else -math.inf for end in (*interval, test.tolerated.low, test.tolerated.high)]
        scaled = (logs[0], logs[1], logs[2]), Tolerated(logs[3], logs[4])
    times = factor_that_decides(*scaled)
    reason = "the interval holds both what is tolerated and what is not"
    if times is None:
        reason += "; no n would decide, since the estimate lies on the limit"
    return replace(test, times=times, reason=reason)


def _require_interval(test: Test, ours: Number, theirs: Number) -> None:
    """Check that a number is defined on both sides, has a confidence interval, and compares."""
    about = declaration_of(test.critic, test.statistic)
    if about is not None and about.spans:
        raise Undecided(f"its range is no confidence interval ({about.spans})")
    for number, side in ((ours, "baseline"), (theirs, "candidate")):
        if not math.isfinite(number.interval[0]):
            raise Undecided(f"undefined in the {side}: {number.reason or 'the run does not say why'}")
        if not np.isfinite(number.interval).all():
            raise Undecided(f"it has no interval in the {side}")


def _require_like_sizes(test: Test, ours: Number, theirs: Number) -> None:
    """Check that a number which depends on how many documents there are is of as many on both sides."""
    about = declaration_of(test.critic, test.statistic)
    if about is not None and about.sized and ours.sizes != theirs.sizes:
        raise Undecided(f"{UNLIKE_SIZES}: {ours.sizes[1]} in the baseline, {theirs.sizes[1]} in the candidate")


def _interval(test: Test, sides: Sides, level: float) -> Interval:
    """Interval of what a test is about, at a level."""
    first, second = _keys(test)
    if test.measure == VALUE:
        of_value = _from_control if test.farther else _stretched
        return of_value(sides.candidate, second, level)
    if not test.farther and sides.same_run and (recorded := _recorded(test, sides.candidate, level)):
        return recorded
    _require_like_sizes(test, sides.baseline.numbers[first], sides.candidate.numbers[second])
    if test.farther:
        both = (1 + level) / 2  # of each distance, so that the two hold together (Bonferroni)
        after, before = _from_control(sides.candidate, second, both), _from_control(sides.baseline, first, both)
        require_comparable(sides.baseline, sides.candidate, _of_control(first), _of_control(second))
        return change_of_distance(after, before)
    ours, theirs = sides.baseline, sides.candidate
    if test.measure == DIFFERENCE:
        return difference(_stretched(theirs, second, level), _stretched(ours, first, level), level)
    found = difference(_stretched(theirs, second, level, True), _stretched(ours, first, level, True), level)
    return _ratio(found)


def _ratio(logs: Interval) -> Interval:
    """Interval of a ratio from that of its log, which few texts at a high level can make wider than numbers go."""
    low, high = sys.float_info.min, sys.float_info.max
    if not math.log(low) < min(logs) <= max(logs) < math.log(high):
        raise Undecided(
            "the interval of the ratio goes beyond all numbers; it needs more texts, or ask for a difference"
        )
    return math.exp(logs[0]), math.exp(logs[1]), math.exp(logs[2])


def _of_control(key: Key) -> Key:
    return key[0], CONTROL, key[2], key[3]


def _from_control(run: Run, key: Key, level: float) -> Interval:
    control = _of_control(key)
    if control not in run.numbers or not np.isfinite(run.numbers[control].interval).all():
        raise Undecided("the control has no such number with an interval, so that nothing can be far from it")
    return distance(_stretched(run, key, level), _stretched(run, control, level), level)


def _stretched(run: Run, key: Key, level: float, log: bool = False) -> Interval:
    """Interval of a number at a level."""
    number = run.numbers[key]
    interval = logarithm(number.interval) if log else number.interval
    if interval is None:
        raise Undecided("a ratio needs what is above 0, and an interval reaches 0; ask for a difference")
    return at_confidence(interval, _confidence(run, number.confidence), level, _smallest(number.sizes))


def _recorded(test: Test, run: Run, level: float) -> Interval | None:
    """Change as the run's table of pairs has it, which knows of partners; None where it has none in this measure."""
    name = (test.corpus, test.critic, test.statistic)
    forward = run.pairs.get((*name, test.candidate, test.baseline))
    measured = forward or run.pairs.get((*name, test.baseline, test.candidate))
    if measured is None or measured[0] != test.measure:
        return None
    number = measured[1]
    if not np.isfinite(number.interval).all():
        raise Undecided(number.reason or "the table of pairs has no interval of it")
    value, low, high = np.log(number.interval) if test.measure == RATIO else number.interval
    if forward is None:
        value, low, high = -value, -high, -low
    given = _confidence(run, number.confidence)
    found = at_confidence((value, low, high), given, level, _smallest(number.sizes))
    return _ratio(found) if test.measure == RATIO else found


def _confidence(run: Run, found: float) -> float:
    """Level of an interval: what its signature says, or else the run's config."""
    return found if math.isfinite(found) else float(run.config["statistics"]["confidence"])


def _smallest(sizes: tuple[int, int]) -> int:
    return min((n for n in sizes if n), default=2)
