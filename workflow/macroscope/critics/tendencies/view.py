"""What the tendencies critic sees of a single document: its own numbers."""

from pathlib import Path

import pandas as pd

from macroscope.critics.tendencies.latents import PER_TEXT, per_text
from macroscope.statistics.keys import KEYS
from macroscope.statistics.telling_apart import View

_READ = (
    *("tokens", "stop_words", "symbols", "duplicate_2grams", "duplicate_4grams", "compression_ratio"),
    "longest_repeat",
)


def view(latents: Path, scores: Path | None) -> View:
    """Each of `PER_TEXT`, the mean over the document's texts."""
    texts = pd.read_parquet(latents, columns=[*KEYS, *_READ])
    by_document = pd.concat([texts[list(KEYS)], per_text(texts)], axis=1).groupby("id", sort=False)
    numbers = by_document[list(PER_TEXT)].mean()
    keys = pd.DataFrame({"id": numbers.index, "opening": by_document["opening"].first().to_numpy()})
    return View(keys, numbers.to_numpy(float))
