"""A commented policy to start from: margins that a person would choose, for numbers that both sides have."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.errors import MacroscopeError
from macroscope.files import write_text
from macroscope.gate.decision import at_confidence, difference, logarithm
from macroscope.gate.evaluate import Comparison
from macroscope.options import KEPT_NAMES
from macroscope.reporting.comparability import find_declaration
from macroscope.runs.numbers import Key, Number
from macroscope.runs.results import Results
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC

CONFIDENCE = 0.95
RATIO = 1.1
"""Tolerated change of a statistic without a scale of its own, as a factor."""
_HEAD = """\
# Policy for `macroscope gate`: the largest tolerated changes. Made from {folder}; edit it.
# Each entry: critic, statistic (and corpus, system: * matches anything), and
#   worse       higher, lower, any, or farther (from the control's value)
#   difference  largest tolerated change for the worse, or
#   ratio       the same as candidate / baseline (1.05; 0.95 with 'worse: lower')
#   limit       worst tolerated value of the candidate itself
# c2st_auc runs from 0.5 (like real text) to 1. Its tolerated change is the margin of equivalence of the run's config
# (statistics.margin); other numbers may change by a tenth. Comments say if this number of texts can decide that.
confidence: {confidence}
statistics:
"""


def choose_pairs(run: Results, system: str | None) -> Comparison:
    """Return a comparison of a run's systems with themselves, for a template without a baseline.

    Parameters
    ----------
    system
        Name of the only system to consider; None for all but the control and its halves.
    """
    names = [system] if system else sorted(run.named_systems - {*KEPT_NAMES})
    return Comparison(run, run, tuple((name, name) for name in names))


def write_starting_policy(comparison: Comparison, path: Path) -> int:
    """Write a policy with one statistic per corpus and critic: the detectability of documents, or the critic's first.

    Parameters
    ----------
    comparison
        Runs and pairs of systems; a statistic is used if both sides of a pair have it, with an interval.
    path
        File to write.

    Returns
    -------
    int
        Number of entries under which two equal systems with as many texts would not pass.

    Raises
    ------
    MacroscopeError
        If the file exists, or the runs have no such statistic.
    """
    if path.exists():
        raise MacroscopeError(f"{path}: exists already; give another path, or remove it")
    chosen = list(_chosen_statistics(comparison))
    if not chosen:
        raise MacroscopeError(
            f"{comparison.candidate.folder}: no critic has a statistic with an interval, of as many texts, on both"
            " sides; give runs with more texts, or equally many"
        )
    tests = sum(len(pairs) for _, pairs, _ in chosen)
    each = 1 - (1 - CONFIDENCE) / tests
    entries, few = [], 0
    for (corpus, critic, statistic), pairs, is_all in chosen:
        for pair in [None] if is_all else pairs:
            here = pairs if pair is None else [pair]
            times = max(_times(comparison, (corpus, critic, statistic), one_pair, each) for one_pair in here)
            few += times > 1
            entries.append(_entry(comparison, (corpus, critic, statistic), pair and pair[1], times))
    folder = "".join(char if char.isprintable() else "?" for char in str(comparison.candidate.folder))
    write_text(path, _HEAD.format(folder=folder, confidence=CONFIDENCE) + "".join(entries))
    return few


Statistic = tuple[str, str, str]
"""(corpus, critic, statistic)"""
Pair = tuple[str, str]
"""System of the baseline, and that of the candidate."""


def _chosen_statistics(comparison: Comparison) -> Iterator[tuple[Statistic, list[Pair], bool]]:
    """Yield a statistic per corpus and critic, the pairs that have it, and whether all pairs of the critic do."""
    judged: dict[tuple[str, str], dict[Pair, None]] = {}
    having: dict[tuple[str, str], dict[str, list[Pair]]] = {}
    for baseline, (corpus, candidate, critic, statistic) in comparison.names():
        judged.setdefault((corpus, critic), {})[baseline, candidate] = None
        if _is_usable(comparison, (corpus, baseline, critic, statistic), (corpus, candidate, critic, statistic)):
            having.setdefault((corpus, critic), {}).setdefault(statistic, []).append((baseline, candidate))
    for (corpus, critic), statistics in having.items():
        statistic = C2ST_AUC if C2ST_AUC in statistics else max(statistics, key=lambda name: len(statistics[name]))
        pairs = statistics[statistic]
        yield (corpus, critic, statistic), pairs, len(pairs) == len(judged[corpus, critic])


def _is_usable(comparison: Comparison, baseline_key: Key, candidate_key: Key) -> bool:
    """Return whether a statistic is about a system's quality, and both sides have it in a form that compares."""
    _, _, critic, statistic = candidate_key
    declaration = find_declaration(critic, statistic)
    # Statistics tested against real text are about the system's quality; others only describe its texts.
    if declaration is None or not declaration.null or declaration.spans:
        return False
    baseline, candidate = comparison.baseline.numbers.get(baseline_key), comparison.candidate.numbers.get(candidate_key)
    if baseline is None or candidate is None or not np.isfinite([baseline.interval, candidate.interval]).all():
        return False
    if statistic == C2ST_AUC:
        return baseline.sizes == candidate.sizes
    # Others that depend on the number of texts have no scale of their own, and a ratio needs values above 0.
    return not declaration.sized and min(*baseline.interval, *candidate.interval) > 0


def _times(comparison: Comparison, name: Statistic, pair: Pair, level: float) -> float:
    """Return the multiple of the documents with which two equal systems would pass; at most 1 if these suffice."""
    corpus, critic, statistic = name
    margin = _margin(comparison)
    sides = zip((comparison.baseline, comparison.candidate), pair, strict=True)
    return max(
        _times_of(run.numbers[corpus, system, critic, statistic], statistic, level, margin) for run, system in sides
    )


def _times_of(number: Number, statistic: str, level: float, margin: float) -> float:
    interval = number.interval if statistic == C2ST_AUC else logarithm(number.interval)
    assert interval is not None  # `_is_usable`
    given = number.confidence if math.isfinite(number.confidence) else CONFIDENCE
    scaled = at_confidence(interval, given, level, max(2, min(n for n in (*number.sizes, 2**31) if n)))
    _, low, high = difference(scaled, scaled, level)
    tolerated = margin if statistic == C2ST_AUC else math.log(RATIO)
    widest = high if statistic == C2ST_AUC else max(high, -low)
    return (widest / tolerated) ** 2


def _margin(comparison: Comparison) -> float:
    return float(comparison.candidate.written_config["statistics"].get("margin", 0.1))


def _entry(comparison: Comparison, name: Statistic, system: str | None, times: float) -> str:
    """Return an entry of the policy; JSON strings are valid YAML, so any name is quoted correctly."""
    corpus, critic, statistic = map(json.dumps, name)
    texts = (
        "two equal systems with this number of texts pass"
        if times <= 1
        else f"two equal systems pass with {math.ceil(10 * times) / 10:g} times as many texts"
    )
    lines = [f"  - critic: {critic}", f"    statistic: {statistic}", f"    corpus: {corpus}"]
    lines += [f"    system: {json.dumps(system)}"] if system else []
    if name[2] == C2ST_AUC:
        lines += ["    worse: higher  # easier to tell from real text", f"    difference: {_margin(comparison):g}"]
    else:
        lines += ["    worse: any", f"    ratio: {RATIO:g}"]
    return "\n".join([*lines[:-1], f"{lines[-1]}  # {texts}"]) + "\n"
