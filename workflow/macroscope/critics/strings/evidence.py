"""Evidence of the strings critic: log-probabilities of texts, and the texts least like the reference."""

from pathlib import Path

import pandas as pd

from macroscope.critics.strings.comparison import Comparison
from macroscope.critics.words import shorten
from macroscope.files import atomic
from macroscope.tables import write_csv

SIDES = ("reference", "candidate")
TEXTS_SHOWN = 10
EXCERPT = 300


def write_evidence(output: Path, comparison: Comparison) -> None:
    """Write the evidence of a system into the folder `output`.

    texts.parquet
        id, side, words, nll (T(x) = -log_p), log_p, log_q (nats), and fold.
    unlike.csv
        Texts of the candidate with the largest log-ratio per word of its own distribution to the reference's.
    """
    table = texts_table(comparison)
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        table.to_parquet(folder / "texts.parquet", index=False)
        write_csv(least_like_reference(comparison, table), folder / "unlike.csv")


def texts_table(comparison: Comparison) -> pd.DataFrame:
    """Return the log-probabilities of all texts of reference and candidate."""
    tables = []
    for number, side in enumerate(SIDES):
        texts, scores = comparison.sides[number], comparison.scores
        table = pd.DataFrame({"id": texts.ids, "side": side, "words": texts.words})
        table["log_p"], table["log_q"] = scores.log_p[number], scores.log_q[number]
        table["nll"] = -table["log_p"]
        table["fold"] = -1 if scores.order is None else scores.order.folds[number]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def least_like_reference(comparison: Comparison, table: pd.DataFrame) -> pd.DataFrame:
    """Return the candidate's texts least like the reference: id, words, log_ratio_per_word (nats), excerpt."""
    candidate = table[table["side"] == "candidate"].reset_index(drop=True)
    candidate["log_ratio_per_word"] = (candidate["log_q"] - candidate["log_p"]) / (candidate["words"] + 1)
    top = (
        candidate.dropna(subset="log_ratio_per_word")
        .sort_values("log_ratio_per_word", ascending=False, kind="stable")
        .head(TEXTS_SHOWN)
    )
    excerpts = [shorten(comparison.sides[1].texts[i], EXCERPT) for i in top.index]
    return top[["id", "words", "log_ratio_per_word"]].assign(excerpt=excerpts)
