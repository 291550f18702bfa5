"""What lies beside the numbers of a system, to read: the texts that one side finds much likelier than the other."""

from pathlib import Path

import pandas as pd

from macroscope.critics.strings.comparison import Comparison
from macroscope.critics.words import beginning
from macroscope.files import atomic
from macroscope.tables import write_csv

SIDES = ("reference", "candidate")
TEXTS_SHOWN = 10
EXCERPT = 300


def write_evidence(output: Path, found: Comparison) -> None:
    """Write the evidence of a system into the folder `output`.

    texts.parquet
        id, side, words, nll (T(x) = -log_p), log_p, log_q (nats), and the fold.
    unlike.csv
        Texts of the candidate that its own distribution finds likelier, a word, than the reference's, by most.
    """
    table = texts_table(found)
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        table.to_parquet(folder / "texts.parquet", index=False)
        write_csv(unlike(found, table), folder / "unlike.csv")


def texts_table(found: Comparison) -> pd.DataFrame:
    """Log-probabilities of every text of both sides."""
    tables = []
    for number, side in enumerate(SIDES):
        texts, scores = found.sides[number], found.scores
        table = pd.DataFrame({"id": texts.ids, "side": side, "words": texts.words})
        table["log_p"], table["log_q"] = scores.log_p[number], scores.log_q[number]
        table["nll"] = -table["log_p"]
        table["fold"] = -1 if scores.order is None else scores.order.folds[number]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def unlike(found: Comparison, table: pd.DataFrame) -> pd.DataFrame:
    """Texts of the candidate that are least like the reference: id, words, log_ratio_per_word (nats), excerpt."""
    own = table[table["side"] == "candidate"].reset_index(drop=True)
    own["log_ratio_per_word"] = (own["log_q"] - own["log_p"]) / (own["words"] + 1)
    most = (
        own.dropna(subset="log_ratio_per_word")
        .sort_values("log_ratio_per_word", ascending=False, kind="stable")
        .head(TEXTS_SHOWN)
    )
    excerpts = [beginning(found.sides[1].texts[i], EXCERPT) for i in most.index]
    return most[["id", "words", "log_ratio_per_word"]].assign(excerpt=excerpts)
