"""A commented policy to start from, made from what a finished run has."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.errors import MacroscopeError
from macroscope.files import write_text
from macroscope.gate.comparability import declaration_of
from macroscope.gate.runs import Run
from macroscope.options import KEPT_NAMES
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC

_HEAD = """\
# What `macroscope gate` tolerates. Made from {folder}: edit it.
# Each entry: critic, statistic (and corpus, system: * stands for anything), and
#   worse       higher, lower, any, or farther (from the control's value)
#   difference  largest change for the worse that is tolerated, or
#   ratio       the same as candidate / baseline (1.05; 0.95 with 'worse: lower')
#   limit       worst value of the candidate itself that is tolerated
# What stands here is five times as wide as half of the run's widest interval: two equal systems then pass, with as many
# texts. Whether so large a change is harmless is yours to say; a smaller one needs more texts.
confidence: 0.95
statistics:
"""
_WIDTHS = 5.0


def write_starting_policy(side: tuple[Run, str | None], path: Path) -> None:
    """Write a policy that names one number a critic: how well its documents are told from real ones, or else its first.

    Raises
    ------
    MacroscopeError
        Where there is a file already, or the run has no number with an interval.
    """
    if path.exists():
        raise MacroscopeError(f"{path}: is there already; give another place, or remove it")
    run, system = side
    entries = list(_entries(run, system))
    if not entries:
        raise MacroscopeError(
            f"{run.folder}: no critic has a number with an interval, so that there is nothing to gate"
        )
    folder = "".join(char if char.isprintable() else "?" for char in str(run.folder))
    write_text(path, _HEAD.format(folder=folder) + "".join(entries))


def _entries(run: Run, system: str | None) -> Iterator[str]:
    """An entry for each corpus and critic."""
    usable: dict[tuple[str, str], dict[str, float]] = {}
    for (corpus, name, critic, statistic), number in run.numbers.items():
        about = declaration_of(critic, statistic)
        judged = name == system if system else name not in KEPT_NAMES
        # What is tested against real text says something of the system; other numbers describe its texts.
        if not judged or about is None or not about.null or about.spans:
            continue
        # ... and what depends on how many texts there are compares only where both runs have as many.
        if about.sized and statistic != C2ST_AUC:
            continue
        if not np.isfinite(number.interval).all():
            continue
        half = (number.interval[2] - number.interval[1]) / 2
        found = usable.setdefault((corpus, critic), {})
        found[statistic] = max(half, found.get(statistic, 0.0))
    for (corpus, critic), widths in usable.items():
        statistic = C2ST_AUC if C2ST_AUC in widths else next(iter(widths))
        worse = "higher  # easier to tell from real text" if statistic == C2ST_AUC else "any"
        # JSON's strings are YAML's: whatever a name holds, it is quoted.
        names = [json.dumps(name) for name in (critic, statistic, corpus)]
        yield (
            f"  - critic: {names[0]}\n    statistic: {names[1]}\n    corpus: {names[2]}\n    worse: {worse}\n"
            f"    difference: {_WIDTHS * widths[statistic]:.2g}\n"
        )
