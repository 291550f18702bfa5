"""Template of a commented policy, made from the statistics of a finished run."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.errors import MacroscopeError
from macroscope.files import write_text
from macroscope.gate.comparability import find_declaration
from macroscope.gate.runs import Run
from macroscope.options import KEPT_NAMES
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC

_HEAD = """\
# Policy for `macroscope gate`: the largest tolerated changes. Made from {folder}; edit it.
# Each entry: critic, statistic (and corpus, system: * matches anything), and
#   worse       higher, lower, any, or farther (from the control's value)
#   difference  largest tolerated change for the worse, or
#   ratio       the same as candidate / baseline (1.05; 0.95 with 'worse: lower')
#   limit       worst tolerated value of the candidate itself
# The differences below are five half widths of the run's widest interval: two equal systems with the same number of
# texts pass. Decide whether changes of this size are acceptable; smaller ones need more texts.
confidence: 0.95
statistics:
"""
_WIDTHS = 5.0


def write_starting_policy(selection: tuple[Run, str | None], path: Path) -> None:
    """Write a policy with one statistic per critic: the detectability of documents, or else the critic's first.

    Parameters
    ----------
    selection
        Run, and the name of a system or None for all.
    path
        File to write.

    Raises
    ------
    MacroscopeError
        If the file exists, or the run has no statistic with an interval.
    """
    if path.exists():
        raise MacroscopeError(f"{path}: exists already; give another path, or remove it")
    run, system = selection
    entries = list(_entries(run, system))
    if not entries:
        raise MacroscopeError(f"{run.folder}: no critic has a statistic with an interval; give a run with more texts")
    folder = "".join(char if char.isprintable() else "?" for char in str(run.folder))
    write_text(path, _HEAD.format(folder=folder) + "".join(entries))


def _entries(run: Run, system: str | None) -> Iterator[str]:
    """Yield an entry for each corpus and critic."""
    usable: dict[tuple[str, str], dict[str, float]] = {}
    for (corpus, name, critic, statistic), number in run.numbers.items():
        declaration = find_declaration(critic, statistic)
        is_selected = name == system if system else name not in KEPT_NAMES
        # Statistics tested against real text are about the system's quality; others only describe its texts.
        if not is_selected or declaration is None or not declaration.null or declaration.spans:
            continue
        # Statistics that depend on the number of texts are comparable only between equal numbers.
        if declaration.sized and statistic != C2ST_AUC:
            continue
        if not np.isfinite(number.interval).all():
            continue
        half = (number.interval[2] - number.interval[1]) / 2
        widths = usable.setdefault((corpus, critic), {})
        widths[statistic] = max(half, widths.get(statistic, 0.0))
    for (corpus, critic), widths in usable.items():
        statistic = C2ST_AUC if C2ST_AUC in widths else next(iter(widths))
        worse = "higher  # easier to tell from real text" if statistic == C2ST_AUC else "any"
        # JSON strings are valid YAML, so any name is quoted correctly.
        names = [json.dumps(name) for name in (critic, statistic, corpus)]
        yield (
            f"  - critic: {names[0]}\n    statistic: {names[1]}\n    corpus: {names[2]}\n    worse: {worse}\n"
            f"    difference: {_WIDTHS * widths[statistic]:.2g}\n"
        )
