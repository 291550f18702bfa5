"""The answer of a gate: as text for people, as JSON, and as JUnit XML for build servers."""

import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from macroscope import __version__
from macroscope.files import atomic, write_json
from macroscope.gate.decision import EXIT_CODES, FAIL, FREE, INCONCLUSIVE, PASS, Tolerated
from macroscope.gate.evaluate import VALUE, Answer, Test

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold, and what would move a terminal's cursor or turn its text around."""


def text_of(answer: Answer) -> str:
    """The answer for people: the verdict, then every test, the worst first."""
    order = (FAIL, INCONCLUSIVE, PASS)
    tests = sorted(answer.tests, key=lambda test: order.index(test.verdict))
    lines = [f"{test.verdict:12}  {name_of(test)}: {sentence_of(test)}" for test in tests]
    return "\n".join([*lines, "", summary_of(answer)])


def summary_of(answer: Answer) -> str:
    """The verdict with counts, and how sure it is."""
    counts = ", ".join(f"{_count(answer, verdict)} {verdict}" for verdict in (PASS, FAIL, INCONCLUSIVE))
    n = len(answer.tests)
    found = (
        f"{answer.verdict}: {counts}, of {n} {'test' if n == 1 else 'tests'}; intervals hold together at"
        f" {answer.confidence:.4g} (Bonferroni: {answer.each:.6g} each)"
    )
    if answer.unused:
        places = ", ".join(str(number) for number in answer.unused)
        found += f"\nNot asked, since they are about other systems: statistics {places} of the policy"
    return found


def name_of(test: Test) -> str:
    """Whose number a test is about."""
    systems = test.candidate if test.candidate == test.baseline else f"{test.candidate} against {test.baseline}"
    return shown(f"{test.corpus} / {systems} / {test.critic} {test.statistic}")


def sentence_of(test: Test) -> str:
    """What was found, what is tolerated, why it is undecided and what n would decide."""
    what = "value" if test.measure == VALUE else test.measure
    if test.farther:
        what = "distance from the control" if test.measure == VALUE else "change of the distance from the control"
    found = [f"{what} {_tolerated(test.tolerated)} tolerated"]
    if math.isfinite(test.interval[0]):
        value, low, high = (f"{end:.4g}" for end in test.interval)
        found.insert(0, f"{value} [{low}, {high}]")
    if test.reason:
        found.append(shown(test.reason))
    if test.times is not None:
        found.append(
            f"about {_more(test.sizes[1], test.times)} documents would decide (now {test.sizes[1]}), with"
            f" {test.times:.3g} times as many of the baseline and of real text"
        )
    return "; ".join(found)


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as JSON; what is not defined, or has no bound, is null."""
    return {
        "macroscope": __version__,
        "verdict": answer.verdict,
        "exit_code": EXIT_CODES[answer.verdict],
        "confidence": answer.confidence,
        "confidence_each": answer.each,
        "counts": {verdict: _count(answer, verdict) for verdict in (PASS, FAIL, INCONCLUSIVE)},
        "rules_not_asked": list(answer.unused),
        "tests": [_test_as_json(test) for test in answer.tests],
    }


def write_answer(answer: Answer, json: Path | None, junit: Path | None) -> None:
    """Write the answer's files, each whole or not at all."""
    if json is not None:
        write_json(json, as_json(answer))
    if junit is not None:
        with atomic(junit) as temporary:
            as_junit(answer).write(temporary, encoding="utf-8", xml_declaration=True)


def as_junit(answer: Answer) -> "ElementTree.ElementTree[ElementTree.Element]":
    """The answer as JUnit XML: FAIL is a failure, INCONCLUSIVE an error, so that no server takes it for a success."""
    counts = {
        "tests": str(len(answer.tests)),
        "failures": str(_count(answer, FAIL)),
        "errors": str(_count(answer, INCONCLUSIVE)),
        "skipped": "0",
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "macroscope gate", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "macroscope gate", **counts})
    for test in answer.tests:
        about = {
            "classname": shown(f"{test.corpus}.{test.candidate}.{test.critic}"),
            "name": f"{name_of(test)} ({test.measure}, rule {test.rule})",
            "time": "0",
        }
        case = ElementTree.SubElement(suite, "testcase", about)
        said = sentence_of(test)
        if test.verdict == PASS:
            ElementTree.SubElement(case, "system-out").text = said
        else:
            kind = "failure" if test.verdict == FAIL else "error"
            ElementTree.SubElement(case, kind, {"message": said, "type": test.verdict}).text = said
    ElementTree.indent(root)
    return ElementTree.ElementTree(root)


def shown(text: str) -> str:
    """Text whose control characters are written as escapes."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _count(answer: Answer, verdict: str) -> int:
    return sum(test.verdict == verdict for test in answer.tests)


def _tolerated(tolerated: Tolerated) -> str:
    if tolerated.low == -FREE:
        return f"up to {tolerated.high:.4g}"
    if tolerated.high == FREE:
        return f"down to {tolerated.low:.4g}"
    return f"from {tolerated.low:.4g} to {tolerated.high:.4g}"


def _more(n: int, times: float) -> int:
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
        "n_that_decides": None if test.times is None else _more(test.sizes[1], test.times),
    }
