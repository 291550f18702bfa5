"""Prepare HelloBench's stories for `macroscope rank`, and compare the ranking with its judges.

    python examples/ranking/hellobench.py prepare DATA texts
    macroscope rank --reference texts/real.jsonl --candidate texts/gpt4o_0806.jsonl ... --output ranking.csv
    python examples/ranking/hellobench.py compare DATA ranking.csv

DATA has text_completion/<model>.jsonl.gz (fields id, text), judgement_means.csv (model, task, mean_checklist_score) and
text_completion/_human_source.jsonl.gz (with label): the stories by people that the prompts quote. HelloBench has no
continuations of them by people.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

RESAMPLES = 2000


def prepare(data: Path, output: Path) -> None:
    """Write a file per model, and real.jsonl with the stories by people that models are to continue."""
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted((data / "text_completion").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        rows = [row for row in rows if row.get("label", "continuation") == "continuation" and row["text"].strip()]
        name = "real" if path.name.startswith("_human") else path.name.removesuffix(".jsonl.gz")
        lines = (json.dumps({"id": row["id"], "text": row["text"]}, ensure_ascii=False) for row in rows)
        (output / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def compare(data: Path, ranking: Path) -> None:
    """Print Spearman's correlation of each column with the judges' means, with an interval over models."""
    scores = pd.read_csv(data / "judgement_means.csv").query("task == 'text_completion'").set_index("model")
    table = pd.read_csv(ranking).set_index("system").join(scores["mean_checklist_score"], how="inner")
    rng = np.random.default_rng(1)
    for column in ("monotony", "words", "sentences", "within", "between"):
        pairs = table[[column, "mean_checklist_score"]].to_numpy()
        resampled = [spearmanr(pairs[rng.integers(0, len(pairs), len(pairs))])[0] for _ in range(RESAMPLES)]
        low, high = np.nanquantile(resampled, [0.025, 0.975])
        print(f"{column}: {spearmanr(pairs)[0]:.2f} [{low:.2f}, {high:.2f}], {len(pairs)} models")


if __name__ == "__main__":
    {"prepare": prepare, "compare": compare}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
