"""Page of the docs with the calibration of every p-value and interval."""

import pandas as pd

from macroscope.statistics.declaration import Statistic

from .promises import declared_tuples, find_case
from .store import is_current

_HEAD = """# Calibration: what p-values and intervals are worth

Written by `make calibration`, which simulates every p-value under its null and every interval against its truth, for
every statistic that a module of the package declares. New critics are included automatically: a statistic without a
simulation is an error.

- A test should reject in 5 % and in 1 % of the runs in which nothing differs. *conservative*: less often, because few
  values are possible. A test of documents that are exchangeable under its null keeps its level exactly. The
  simulations check the code, and the level under wider nulls, such as equal latent PPL with another spread.
- *power*: a test should detect an existing difference in at least the share of runs that its setting states, for any
  direction and sizes. A test of one direction only would keep its level, too.
- A 95 % interval should hold the truth in 95 % of the runs; *conservative*: in more. *bias* is the mean of the value
  minus the truth, in standard deviations of the value from run to run.
- Limits are those of a binomial of 99.9 %. *known*: the promise does not hold there, and the report or the docs say so.
- A setting is simulated again when code that it runs has changed. Below a setting that waits for that stands its date.

"""
SHOWN = {
    "statistic": "statistic",
    "claim": "claim",
    "runs": "runs",
    "rate": "rate",
    "bias": "bias",
    "verdict": "verdict",
}


def render_page(table: pd.DataFrame) -> str:
    """Render the page in Markdown: a section per tuple of statistics, a table per setting."""
    table = table.assign(current=is_current(table))
    parts = [_HEAD, _summary(table)]
    tuples = declared_tuples()
    for place, rows_of_tuple in table.groupby("declared", sort=False):
        parts.append(f"\n## {place.removeprefix('macroscope.').partition(':')[0]}\n")
        parts.append(_promises(tuples[str(place)]))
        case = find_case(str(place))
        for pattern, reason in (case.conservative if case else {}).items():
            parts.append(f"`{pattern}`: {reason}.\n")
        for setting, rows in rows_of_tuple.groupby("setting", sort=False):
            parts.append(f"\n### {setting}\n")
            if not rows["current"].all():
                parts.append(f"Of {rows['date'].min()}: code that this setting runs has changed since.\n")
            parts.append(_table(rows))
    return "\n".join(parts).rstrip() + "\n"


def _summary(table: pd.DataFrame) -> str:
    verdicts = table["verdict"].str.partition(":")[0].value_counts()
    counted = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    settings = table.groupby(["declared", "setting"])["current"].all()
    return (
        f"{len(table)} claims in {len(settings)} settings: {counted}. {settings.sum()} of the settings were simulated"
        " with the present code.\n"
    )


def _promises(statistics: tuple[Statistic, ...]) -> str:
    lines = ["| statistic | its interval holds | its p-value tests |", "|---|---|---|"]
    for statistic in statistics:
        if statistic.holds or statistic.null:
            lines.append(f"| `{statistic.pattern}` | {statistic.holds or '–'} | {statistic.null or '–'} |")
    return "\n".join(lines) + "\n"


def _table(rows: pd.DataFrame) -> str:
    lines = ["| " + " | ".join(SHOWN.values()) + " |", "|---|---|---:|---:|---:|---|"]
    for row in rows.itertuples():
        bias = "" if pd.isna(row.bias) else f"{row.bias:+.2f}"
        lines.append(f"| `{row.statistic}` | {row.claim} | {row.runs} | {row.rate:.3f} | {bias} | {row.verdict} |")
    return "\n".join(lines) + "\n"
