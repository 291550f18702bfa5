"""Write the tables of docs/human-results.md anew, from `macroscope criticize` and `human correlate` of each set.

    python examples/human-ratings/tables.py ratings docs/human-results.md docs/data

In docs/data, human-ratings.csv has every correlation, and human-given-length.csv one number per critic. A set without
ratings/<set>/documents.csv keeps its entries. Prints what the text of the page cites.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.reporting.human_documents import read_document_values
from macroscope.runs.results import read_run
from macroscope.tables import read_csv

QUESTIONS = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
OVER, WITHIN = "over systems", "within systems"
NAMED = {
    "`clusters`, `attribution_score`": ("clusters", "attribution_score"),
    "`coreference`, T(x)": ("coreference", "nll_per_unit"),
    "`coreference`, `name_mismatch`": ("coreference", "name_mismatch"),
    "`narrative`, `incoherence`": ("narrative", "incoherence"),
    "`narrative`, `order`": ("narrative", "order"),
    "`narrative`, T(x)": ("narrative", "nll_per_unit"),
    "`strings`, `attribution_score`": ("strings", "attribution_score"),
    "`tendencies`, `attribution_score`": ("tendencies", "attribution_score"),
    "`topics`, T(x)": ("topics", "nll_per_unit"),
    "`topics`, `patchiness`": ("topics", "patchiness"),
}
"""Label of a row of the tables given length -> critic and statistic."""
GIVEN_LENGTH: dict[str, tuple[str, str | None, str]] = {
    "short stories, any length": ("short_stories", None, "spearman"),
    "short stories": ("short_stories", None, "partial_spearman"),
    "long stories, any length": ("long_stories", None, "spearman"),
    "long stories": ("long_stories", None, "partial_spearman"),
    **{f"HANNA, {question}": ("hanna", question, "partial_spearman") for question in QUESTIONS},
    **{
        f"{label}, {documents}": (label.lower(), documents, "partial_spearman")
        for label in ("contrastive", "RankGen")
        for documents in (OVER, WITHIN)
    },
}
"""Column of the numbers given length -> set, question or documents, and correlation."""
RELIABILITY = {
    "contrastive search against contrastive decoding": "contrastive",
    "RankGen": "rankgen",
    "short stories": "short_stories",
    "long stories": "long_stories",
}
"""Beginning of a row of the first table -> set; of HANNA only means of people are published."""
REPETITION, WORDS = ("tendencies", "duplicate_2grams"), ("tendencies", "tokens")
"""Critic and number: the partial correlations of long stories are also given both."""
CORRELATIONS = {
    "pearson": "pearson",
    "low": "pearson_low",
    "high": "pearson_high",
    "p": "pearson_p_value",
    "p_adjusted": "pearson_p_adjusted",
    "corrected": "disattenuated",
    "spearman": "spearman",
}
"""Column of the CSV file -> column of a set's correlations."""
RULE = re.compile(r"\|[-| ]+\|")


def main(ratings: Path, page: Path, data: Path) -> None:
    """Rewrite the page, and the tables of all correlations and of those given length."""
    paths = {path.parent.name: path for path in sorted(ratings.glob("*/documents.csv"))}
    sets = {name: read_csv(path) for name, path in paths.items()}
    lines = page.read_text(encoding="utf-8").split("\n")
    page.write_text("\n".join(rewrite(lines, sets)), encoding="utf-8")
    given_length = read_csv(data / "human-given-length.csv", dtype=str)
    for column, key in GIVEN_LENGTH.items():
        given_length[column] = fill_column(given_length["number"], given_length[column], key, sets)
    given_length.to_csv(data / "human-given-length.csv", index=False)
    correlations = data / "human-ratings.csv"
    old = read_csv(correlations, dtype=str)
    rows = [list_correlations(name, sets[name]) if name in sets else rows for name, rows in old.groupby("set")]
    pd.concat(rows).to_csv(correlations, index=False)
    for name, table in sets.items():
        print(name, *summarise(table), *list_detectors(ratings / name), sep="\n  ")
    if "long_stories" in sets:
        print(*list_given_repetition(ratings / "long_stories"), sep="\n")


def rewrite(lines: list[str], sets: dict[str, pd.DataFrame]) -> Iterator[str]:
    """Yield the lines of the page with new entries."""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        yield line
        if not (number < len(lines) and RULE.fullmatch(lines[number])):
            continue
        yield lines[number]
        end = next(n for n in range(number + 1, len(lines) + 1) if n == len(lines) or not lines[n].startswith("|"))
        rows, number = lines[number + 1 : end], end
        if line.startswith("| set | texts |"):
            yield from (fill_reliability(row, sets) for row in rows)
        else:
            yield from rows


def split_row(row: str) -> list[str]:
    """Split a row of a table into its cells."""
    return [cell.strip() for cell in row.strip("|").split("|")]


def fill_reliability(row: str, sets: dict[str, pd.DataFrame]) -> str:
    """Fill the last cell of a row of the first table."""
    cells = split_row(row)
    name = next((name for label, name in RELIABILITY.items() if cells[0].startswith(label)), "")
    if name in sets:
        of = sets[name].groupby("documents_of", sort=False)["reliability"].first()
        cells[-1] = f"{of.iloc[0]:.2f}" + "".join(f"; {documents} {value:.2f}" for documents, value in of[1:].items())
    return f"| {' | '.join(cells)} |"


def find_run(folder: Path) -> Path:
    """Return the folder of the run that judged a set."""
    return folder / "judged" / "results" / "criticism"


def list_detectors(folder: Path) -> Iterator[str]:
    """Yield the detectability of each system by each critic, and how well the narrative critic finds known damage."""
    card = read_csv(find_run(folder) / "tables" / "scorecard.csv")
    yield from (f"{row['critic']}, {row['system']}: {row['c2st_auc']:.0%}" for _, row in card.iterrows())
    table = read_csv(find_run(folder) / "tables" / "narrative_reference_detection.csv")
    yield from (f"{row['task']}, {row['detector']}: AUC {row['AUC, %']}" for _, row in table.iterrows())


def list_given_repetition(folder: Path) -> Iterator[str]:
    """Yield the partial Spearman correlations of narrative's numbers with ratings, given length and repetition."""
    results = read_run(find_run(folder))
    tables = [read_document_values(results, critic, "reference") for critic in ("narrative", REPETITION[0])]
    values = pd.concat(tables).query("system != 'control'").set_index("document")
    columns = {
        statistic: values.query("critic == @critic and statistic == @statistic")["value"]
        for critic, statistic in (("narrative", "incoherence"), ("narrative", "order"), REPETITION, WORDS)
    }
    columns["score"] = read_csv(folder / "ratings.csv").groupby("document")["score"].mean()
    for number in ("incoherence", "order"):
        ranks = pd.DataFrame(columns)[[number, "score", REPETITION[1], WORDS[1]]].dropna().rank()
        given = np.column_stack([np.ones(len(ranks)), ranks[[REPETITION[1], WORDS[1]]]])
        rest = [ranks[name] - given @ np.linalg.lstsq(given, ranks[name], rcond=None)[0] for name in (number, "score")]
        value = np.corrcoef(rest)[0, 1]
        yield f"narrative, {number}, given length and repeated 2-grams: {value:.2f} of {len(ranks)} stories"


def fill_column(
    numbers: Iterable[str], cells: Iterable[str], key: tuple[str, str | None, str], sets: dict[str, pd.DataFrame]
) -> list[str]:
    """Return the cells of a column of the numbers given length, by the labels `NAMED`; those of absent sets stay."""
    name, part, kind = key
    if name not in sets:
        return [*cells]
    return [format_interval(find_row(sets[name], *NAMED[number], part), kind) for number in numbers]


def find_row(table: pd.DataFrame, critic: str, statistic: str, part: str | None) -> pd.Series:
    """Find the row of a number, NaN if no text has it; `part` is a question, or the documents of one."""
    rows = table[(table["critic"] == critic) & (table["statistic"] == statistic)]
    if part is not None:
        rows = rows[rows["documents_of" if part in (OVER, WITHIN) else "question"] == part]
    return rows.iloc[0] if len(rows) else pd.Series(np.nan, index=table.columns)


def list_correlations(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """List Pearson's r of every number of a set that varies, as rows of the CSV file."""
    table = table[np.isfinite(table["pearson"])]
    keys = table[["question", "documents_of", "critic", "statistic"]]
    cells = {
        column: table[source].map(format_p if column.startswith("p_") or column == "p" else "{:.2f}".format)
        for column, source in CORRELATIONS.items()
    }
    return pd.concat([keys, pd.DataFrame(cells).replace("nan", "")], axis=1).assign(set=name)[["set", *keys, *cells]]


def format_interval(row: pd.Series, kind: str) -> str:
    """Format a correlation with its interval."""
    if not np.isfinite(row[kind]):
        return "–"
    return f"{row[kind]:.2f} [{row[f'{kind}_low']:.2f}, {row[f'{kind}_high']:.2f}]"


def format_p(p: float) -> str:
    """Format a p-value."""
    return "" if np.isnan(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def summarise(table: pd.DataFrame) -> Iterator[str]:
    """Yield sentences: numbers of rows below 5 %, and the largest correlation given length."""
    for documents, rows in table.groupby("documents_of"):
        for kind in ("pearson", "partial_spearman"):
            defined = rows[np.isfinite(rows[kind])]
            below, adjusted = ((defined[f"{kind}_p_{which}"] < 0.05).sum() for which in ("value", "adjusted"))
            largest = defined.loc[defined[kind].abs().idxmax()]
            yield (
                f"{documents}, {kind}: {below} of {len(defined)} rows below 5 %, {adjusted} adjusted; the largest is"
                f" {largest[kind]:.2f} ({largest['critic']}, {largest['statistic']})"
            )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
