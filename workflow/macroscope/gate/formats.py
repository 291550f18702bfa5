"""Formats of a gate's result: text, JSON, and JUnit XML for build servers."""

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from macroscope import __version__
from macroscope.errors import escape_controls
from macroscope.files import atomic, require_replaceable, write_json
from macroscope.gate.decision import EXIT_CODES, FAIL, FREE, INCONCLUSIVE, PASS, Tolerated
from macroscope.gate.evaluate import VALUE, GateResult, Test

_JSON_BEGINS = '{\n  "macroscope": '
_JUNIT_BEGINS = "<?xml version='1.0' encoding='utf-8'?>\n<testsuites name=\"macroscope gate\""
"""Beginnings of the files of a result."""


def format_text(result: GateResult) -> str:
    """Format the result as text: every test, the worst first, then the verdict."""
    order = (FAIL, INCONCLUSIVE, PASS)
    tests = sorted(result.tests, key=lambda test: order.index(test.verdict))
    lines = [f"{test.verdict:12}  {format_name(test)}: {format_sentence(test)}" for test in tests]
    return "\n".join([*lines, "", format_summary(result)])


def format_summary(result: GateResult) -> str:
    """Format the verdict with counts and confidence."""
    counts = ", ".join(f"{_count(result, verdict)} {verdict}" for verdict in (PASS, FAIL, INCONCLUSIVE))
    n = len(result.tests)
    summary = (
        f"{result.verdict}: {counts}, of {n} {'test' if n == 1 else 'tests'}; simultaneous confidence"
        f" {result.confidence:.4g} (Bonferroni: {result.each:.6g} each)"
    )
    if result.unused:
        indices = ", ".join(str(number) for number in result.unused)
        summary += f"\nUnused rules, which match only other systems: statistics {indices} of the policy"
    return summary


def format_name(test: Test) -> str:
    """Format the name of a test: corpus, systems, critic and statistic."""
    systems = test.candidate if test.candidate == test.baseline else f"{test.candidate} against {test.baseline}"
    return escape_controls(f"{test.corpus} / {systems} / {test.critic} {test.statistic}")


def format_sentence(test: Test) -> str:
    """Format the result of a test: interval, tolerated range, reason, and the sample size that would decide."""
    measure = "value" if test.measure == VALUE else test.measure
    if test.farther:
        measure = "distance from the control" if test.measure == VALUE else "change of the distance from the control"
    parts = [f"{measure} {_tolerated(test.tolerated)} tolerated"]
    if math.isfinite(test.interval[0]):
        value, low, high = (f"{end:.4g}" for end in test.interval)
        parts.insert(0, f"{value} [{low}, {high}]")
    if test.reason:
        parts.append(escape_controls(test.reason))
    if test.times is not None:
        parts.append(
            f"about {_scaled_size(test.sizes[1], test.times)} documents would decide (now {test.sizes[1]}), with"
            f" {test.times:.3g} times as many of the baseline and of real text"
        )
    return "; ".join(parts)


def as_json(result: GateResult) -> dict[str, Any]:
    """Return the result as JSON; undefined and unbounded values are null."""
    return {
        "macroscope": __version__,
        "verdict": result.verdict,
        "exit_code": EXIT_CODES[result.verdict],
        "confidence": result.confidence,
        "confidence_each": result.each,
        "counts": {verdict: _count(result, verdict) for verdict in (PASS, FAIL, INCONCLUSIVE)},
        "rules_unused": list(result.unused),
        "tests": [_test_as_json(test) for test in result.tests],
    }


def write_result(result: GateResult, json: Path | None, junit: Path | None) -> None:
    """Write the files of the result, each atomically.

    Raises
    ------
    MacroscopeError
        If a file of that name is not an earlier result; then neither is written.
    """
    for path, beginning in ((json, _JSON_BEGINS), (junit, _JUNIT_BEGINS)):
        if path is not None:
            require_replaceable(path, beginning)
    if json is not None:
        write_json(json, as_json(result))
    if junit is not None:
        with atomic(junit) as temporary:
            as_junit(result).write(temporary, encoding="utf-8", xml_declaration=True)


def as_junit(result: GateResult) -> "ElementTree.ElementTree[ElementTree.Element]":
    """Return the result as JUnit XML: FAIL is a failure, INCONCLUSIVE an error, so that it is never a success."""
    counts = {
        "tests": str(len(result.tests)),
        "failures": str(_count(result, FAIL)),
        "errors": str(_count(result, INCONCLUSIVE)),
        "skipped": "0",
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "macroscope gate", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "macroscope gate", **counts})
    for test in result.tests:
        attributes = {
            "classname": escape_controls(f"{test.corpus}.{test.candidate}.{test.critic}"),
            "name": f"{format_name(test)} ({test.measure}, rule {test.rule})",
            "time": "0",
        }
        case = ElementTree.SubElement(suite, "testcase", attributes)
        message = format_sentence(test)
        if test.verdict == PASS:
            ElementTree.SubElement(case, "system-out").text = message
        else:
            kind = "failure" if test.verdict == FAIL else "error"
            ElementTree.SubElement(case, kind, {"message": message, "type": test.verdict}).text = message
    ElementTree.indent(root)
    return ElementTree.ElementTree(root)


def _count(result: GateResult, verdict: str) -> int:
    return sum(test.verdict == verdict for test in result.tests)


def _tolerated(tolerated: Tolerated) -> str:
    if tolerated.low == -FREE:
        return f"up to {tolerated.high:.4g}"
    if tolerated.high == FREE:
        return f"down to {tolerated.low:.4g}"
    return f"from {tolerated.low:.4g} to {tolerated.high:.4g}"


def _scaled_size(n: int, times: float) -> int:
    return math.ceil(n * times)


def _test_as_json(test: Test) -> dict[str, Any]:
    value, low, high = test.interval
    return {
        "rule": test.rule,
        "corpus": test.corpus,
        "critic": test.critic,
        "statistic": test.statistic,
        "baseline": test.baseline,
        "candidate": test.candidate,
        "measure": test.measure,
        "from_control": test.farther,
        "value": value,
        "ci_low": low,
        "ci_high": high,
        "tolerated_low": test.tolerated.low,
        "tolerated_high": test.tolerated.high,
        "n_baseline": test.sizes[0],
        "n_candidate": test.sizes[1],
        "verdict": test.verdict,
        "reason": test.reason,
        "n_that_decides": None if test.times is None else _scaled_size(test.sizes[1], test.times),
    }
