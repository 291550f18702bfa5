"""Rates of the workflow's rules, from runs of `macroscope criticize`, for its estimate of the time.

    python tests/benchmarks/rates.py FOLDER...

The arguments are folders that `criticize --output` wrote; the result is `resources/job_seconds.csv`. A job takes
`START_SECONDS` of a processor, and `per_1000_words` more for each 1000 words of a collection (least squares through
that start); jobs of the report take the same time for texts of any length. Rules of no run keep their rates.
"""

import csv
import re
import sys
from pathlib import Path

from macroscope.criticize.progress import RATES, START_SECONDS
from macroscope.reporting.times import times_by_rule
from macroscope.tables import read_csv

OF_ANY_LENGTH = ("make_tables", "plot_figures", "write_report", "write_config")
"""Rules whose time does not grow with the texts."""


def read_run(folder: Path) -> tuple[float, dict[str, float]]:
    """Return the mean number of words of a collection, in thousands, and rule -> processor seconds of a job."""
    with (folder / "profile.csv").open(encoding="utf-8", newline="") as file:
        rows = {row[0]: row[1:] for row in csv.reader(file)}
    words = [int(cell.partition(";")[0].replace(",", "")) for cell in rows["words"] if re.match("[0-9]", cell)]
    times = times_by_rule(folder / "logs" / "criticism")
    return sum(words) / len(words) / 1000, (times["cpu_seconds"] / times["jobs"]).dropna().to_dict()


def main() -> None:
    """Write the rates of the rules of the given runs."""
    measured: dict[str, list[tuple[float, float]]] = {}
    for argument in sys.argv[1:]:
        words, seconds = read_run(Path(argument))
        for rule, taken in seconds.items():
            measured.setdefault(rule, []).append((words, max(0.0, taken - START_SECONDS)))
    rows = read_csv(RATES).itertuples(index=False) if RATES.exists() else ()
    rates = {rule: (start, slope) for rule, start, slope in rows}
    for rule, pairs in measured.items():
        if rule in OF_ANY_LENGTH:
            rates[rule] = START_SECONDS + sum(taken for _, taken in pairs) / len(pairs), 0.0
        else:
            slope = sum(words * taken for words, taken in pairs) / sum(words**2 for words, _ in pairs)
            rates[rule] = START_SECONDS, slope
    lines = ["rule,seconds,per_1000_words"]
    lines += [f"{rule},{start:.1f},{slope:.4f}" for rule, (start, slope) in sorted(rates.items())]
    RATES.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
