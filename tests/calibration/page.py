"""Pages of the docs with the calibration of every p-value and interval: an overview, and a page per module."""

from collections.abc import Iterator

import pandas as pd

from macroscope.statistics.declaration import Statistic

from .promises import declared_tuples, find_case
from .store import is_current

_HEAD = """# Calibration: what p-values and intervals are worth

Written by `make calibration`, which simulates every p-value under its null and every interval against its truth, for
every statistic that a module of the package declares. New critics are included automatically: a statistic without a
simulation is an error.

| claim | what should happen |
|---|---|
| p ≤ 0.05, p ≤ 0.01 | a test rejects in 5 % and in 1 % of the runs in which nothing differs; \
simulations check the code, and the level under wider nulls, such as equal latent PPL with another spread |
| power | a test detects an existing difference in at least the share of runs that its setting states, \
for any direction and sizes |
| interval | an interval of 95 % contains the truth in 95 % of the runs |
| bias | mean of the value minus the truth, in standard deviations of the value from run to run |

| verdict | meaning |
|---|---|
| empty | every promise of the row holds, within the limits of a binomial of 99.9 % |
| conservative | a test rejects less often, because few values are possible; an interval contains the truth more often |
| known | the promise does not hold there, and the report or the docs say so |

A setting is simulated again when its version is raised, because its numbers have changed. Below a setting that waits
for that stands its date.
Every rate: [calibration.csv](calibration.csv).

"""
CLAIMS = {"p <= 0.05": "p ≤ 0.05", "p <= 0.01": "p ≤ 0.01", "power": "power", "interval": "interval", "bias": "bias"}
"""Claim of the table of rates, or bias -> head of its column."""
FORMATS = {"bias": "+.2f"}
"""Format of a column other than rates."""


def render_pages(table: pd.DataFrame) -> dict[str, str]:
    """Render the pages in Markdown: path -> text, the overview first."""
    modules = table["declared"].str.removeprefix("macroscope.").str.partition(":")[0]
    table = table.assign(current=is_current(table), module=modules)
    groups = dict(iter(table.groupby("module", sort=False)))
    overview = "\n".join([_HEAD, _summary(table), *_modules(groups), "", *_known(table)]) + "\n"
    pages = {f"calibration/{module}.md": _module(module, rows) for module, rows in groups.items()}
    return {"calibration.md": overview, **pages}


def _summary(table: pd.DataFrame) -> str:
    verdicts = table["verdict"].str.partition(":")[0].value_counts()
    counted = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    settings = table.groupby(["declared", "setting"])["current"].all()
    return (
        f"{len(table)} claims in {len(settings)} settings: {counted}. {settings.sum()} of the settings were simulated"
        " in the present version.\n"
    )


def _modules(groups: dict[str, pd.DataFrame]) -> Iterator[str]:
    yield "| module | settings | claims | conservative | known |\n|---|---:|---:|---:|---:|"
    for module, rows in groups.items():
        verdicts = rows["verdict"].str.partition(":")[0].value_counts()
        counts = (rows["setting"].nunique(), len(rows), verdicts.get("conservative", 0), verdicts.get("known", 0))
        yield f"| [{module}](calibration/{module}.md) | {' | '.join(map(str, counts))} |"


def _known(table: pd.DataFrame) -> Iterator[str]:
    """Yield the table of promises that do not hold."""
    yield "| promises known not to hold | claims |\n|---|---:|"
    reasons = table["verdict"][table["verdict"].str.startswith("known: ")].str.removeprefix("known: ")
    for reason, number in reasons.value_counts().items():
        yield f"| {reason} | {number} |"


def _module(module: str, table: pd.DataFrame) -> str:
    """Render a module's page: its promises, and a table per setting."""
    tuples = declared_tuples()
    parts = [f"# Calibration: {module}\n", "[What the numbers mean](../calibration.md)\n"]
    for place, rows_of_tuple in table.groupby("declared", sort=False):
        parts.append(_promises(tuples[str(place)]))
        case = find_case(str(place))
        for pattern, reason in (case.conservative if case else {}).items():
            parts.append(f"`{pattern}`: {reason}.\n")
        for setting, rows in rows_of_tuple.groupby("setting", sort=False):
            parts.append(f"## {setting}\n")
            if not rows["current"].all():
                parts.append(f"Of {rows['date'].min()}: the version was raised since.\n")
            parts.append(_table(rows))
    return "\n".join(parts).rstrip() + "\n"


def _promises(statistics: tuple[Statistic, ...]) -> str:
    """Render what the statistics promise, those with the same promise in one row."""
    patterns: dict[tuple[str, str], list[str]] = {}
    for statistic in statistics:
        if statistic.holds or statistic.null:
            patterns.setdefault((statistic.holds or "–", statistic.null or "–"), []).append(f"`{statistic.pattern}`")
    lines = ["| statistic | its interval holds | its p-value tests |", "|---|---|---|"]
    lines += [f"| {', '.join(names)} | {holds} | {null} |" for (holds, null), names in patterns.items()]
    return "\n".join(lines) + "\n"


def _table(rows: pd.DataFrame) -> str:
    """Render a setting: a row per statistic, a column per claim that it has."""
    rates = rows.pivot(index="statistic", columns="claim", values="rate")
    rates["bias"] = rows.groupby("statistic")["bias"].first()
    rates = rates.reindex(rows["statistic"].unique()).dropna(axis=1, how="all")
    claims = [claim for claim in CLAIMS if claim in rates]
    lines = [f"| {rows['runs'].max()} runs | {' | '.join(CLAIMS[claim] for claim in claims)} | verdict |"]
    lines.append("|---|" + "---:|" * len(claims) + "---|")
    for statistic, row in rates.iterrows():
        cells = ["" if pd.isna(row[claim]) else f"{row[claim]:{FORMATS.get(claim, '.3f')}}" for claim in claims]
        lines.append(f"| `{statistic}` | {' | '.join(cells)} | {_verdict(rows[rows['statistic'] == statistic])} |")
    return "\n".join(lines) + "\n"


def _verdict(rows: pd.DataFrame) -> str:
    """Name the claims that do not simply hold."""
    others: dict[str, list[str]] = {}
    for row in rows[rows["verdict"] != "holds"].itertuples():
        others.setdefault(str(row.verdict), []).append(CLAIMS[str(row.claim)])
    return "; ".join(f"{', '.join(claims)} {verdict}" for verdict, claims in others.items())
