"""Prepare HelloBench's stories for `macroscope rank`, and compare the ranking with its judges (docs/ranking.md).

    python examples/ranking/hellobench.py prepare DATA texts
    macroscope rank --reference texts/real.jsonl --candidate texts/models.jsonl --model-field model --output ranking.csv
    python examples/ranking/hellobench.py compare DATA ranking.csv
    python examples/ranking/hellobench.py vary DATA texts

DATA has text_completion/<model>.jsonl.gz (fields id, text), judgement_means.csv (model, task, mean_checklist_score) and
text_completion/_human_source.jsonl.gz (with label): the stories by people that the prompts quote. HelloBench has no
continuations of them by people.
"""

import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from macroscope.criticize.inputs import GivenFields
from macroscope.critics.tendencies.features import compression_ratio
from macroscope.natural_language.words import count_words, lower_case_words
from macroscope.ranking import rank
from macroscope.statistics.monotony import COMPONENTS
from macroscope.tables import read_csv

RESAMPLES = 2000
SCORE, TASK = "mean_checklist_score", "text_completion"
UPPER = 14
"""Number of models that the judges prefer, among which the ranking is tried alone."""
LENGTHS = (200, 400)
"""Words of a passage that are tried beside those of the command."""

Row = dict[str, Any]


def prepare(data: Path, output: Path) -> None:
    """Write models.jsonl, and real.jsonl with the stories by people that models are to continue."""
    output.mkdir(parents=True, exist_ok=True)
    real: list[Row] = []
    models: list[Row] = []
    for path in sorted((data / "text_completion").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        rows = [row for row in rows if row.get("label", "continuation") == "continuation" and row["text"].strip()]
        model = path.name.removesuffix(".jsonl.gz")
        if model.startswith("_human"):
            real += [{"id": row["id"], "text": row["text"]} for row in rows]
        else:
            models += [{"id": row["id"], "model": model, "text": row["text"]} for row in rows]
    _write(output / "real.jsonl", real)
    _write(output / "models.jsonl", models)


def compare(data: Path, ranking: Path) -> None:
    """Print Spearman's correlation of each column with the judges' means, with an interval over models."""
    table = read_csv(ranking).set_index("system")
    rng = np.random.default_rng(1)
    for column in ("monotony", *COMPONENTS):
        pairs = _join(table[column], data).to_numpy()
        resampled = [spearmanr(pairs[rng.integers(0, len(pairs), len(pairs))])[0] for _ in range(RESAMPLES)]
        low, high = np.nanquantile(resampled, [0.025, 0.975])
        print(f"{column}: {spearmanr(pairs)[0]:.2f} [{low:.2f}, {high:.2f}], {len(pairs)} models")


def vary(data: Path, texts: Path) -> None:
    """Print the correlation of other numbers, and of monotony without a part of it or of the data."""
    real, models = (_read(texts / f"{name}.jsonl") for name in ("real", "models"))
    for name, measure in _WHOLE_TEXTS.items():
        values = pd.Series({model: np.mean([measure(row["text"]) for row in rows]) for model, rows in _group(models)})
        print(f"{name}: {_correlate(values, data):.2f}")
    table = _rank(real, models)
    monotony = table["monotony"]
    for left_out in COMPONENTS:
        rest = table[[name for name in COMPONENTS if name != left_out]].mean(axis=1)
        print(f"without {left_out}: {_correlate(rest, data):.2f}")
    for remainder, half in enumerate(("even", "odd")):
        of_half = [row for row in models if int(row["id"].rsplit("_")[-1]) % 2 == remainder]
        print(f"prompts of {half} number: {_correlate(_rank(real, of_half)['monotony'], data):.2f}")
    print(f"without the most monotonous model: {_correlate(monotony.drop(monotony.idxmax()), data):.2f}")
    preferred = _join(monotony, data).nlargest(UPPER, SCORE).index
    print(f"the {UPPER} models that the judges prefer: {_correlate(monotony[preferred], data):.2f}")
    for words in LENGTHS:
        rank.WORDS = words
        print(f"passages of {words} words: {_correlate(_rank(real, models)['monotony'], data):.2f}")
    for task in read_csv(data / "judgement_means.csv")["task"].unique():
        print(f"judges of the task {task}: {_correlate(monotony, data, task):.2f}")


def _rank(real: list[Row], models: list[Row]) -> pd.DataFrame:
    """Rank the models as `macroscope rank` does."""
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "real.jsonl"), Path(folder, "models.jsonl")
        for path, rows in zip(paths, (real, models), strict=True):
            _write(path, rows)
        return rank.rank(paths[:1], paths[1:], GivenFields(model="model"), language="en").set_index("system")


def _correlate(values: pd.Series, data: Path, task: str = TASK) -> float:
    return float(spearmanr(_join(values, data, task))[0])


def _join(values: pd.Series, data: Path, task: str = TASK) -> pd.DataFrame:
    """Join a number of each model with the judges' mean score of a task."""
    scores = read_csv(data / "judgement_means.csv").query("task == @task").set_index("model")[SCORE]
    return pd.concat([values, scores], axis=1, join="inner")


def _group(models: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    for model in dict.fromkeys(row["model"] for row in models):
        yield model, [row for row in models if row["model"] == model]


def _share_repeated(text: str, n: int = 4) -> float:
    """Return the share of the n-grams of a text's words that have occurred in it before."""
    words = lower_case_words(text)
    ngrams = list(zip(*(words[start:] for start in range(n)), strict=False))
    return 1 - len(set(ngrams)) / max(1, len(ngrams))


_WHOLE_TEXTS: dict[str, Callable[[str], float]] = {
    "compression ratio of whole texts": compression_ratio,
    "repeated 4-grams of whole texts": _share_repeated,
    "number of words": count_words,
}
"""Numbers of whole texts, at their own lengths."""


def _read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    {"prepare": prepare, "compare": compare, "vary": vary}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
