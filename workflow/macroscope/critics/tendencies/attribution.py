"""How far the numbers of a text are from those of real text, and where it repeats itself."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import Attribution, Place, write_attributions
from macroscope.critics.tendencies.latents import INTEGERS, PER_TEXT, REALS, per_text
from macroscope.documents import Document, read_documents

REPEATED = "duplicate_4grams"
LENGTH = 4
"""Words running that stand twice."""
MORE_THAN = 0.95
"""Share of real documents that a document must repeat itself more than for its repetitions to be marked."""
_TOKEN = re.compile(r"\w+")


def attribute(texts: Path, latents: Path, control_latents: Path, *, output: Path) -> None:
    """Blame documents for the distance of their numbers, and what they say again; see `critics.attributions`."""
    numbers, real = _numbers(latents), _numbers(control_latents)
    away = distances(numbers, real).groupby(level=0).mean()
    repeated, theirs = (some[REPEATED].groupby(level=0).mean() for some in (numbers, real))
    repeated = repeated.dropna()  # too short to repeat anything
    often = pd.Series(np.searchsorted(np.sort(theirs.dropna()), repeated) / max(1, theirs.count()), repeated.index)
    rows = (
        Attribution(document.id, away.get(document.id, np.nan), _repetitions(document, often.get(document.id, 0.0)))
        for document in read_documents(texts)
    )
    write_attributions(rows, output)


def distances(numbers: pd.DataFrame, real: pd.DataFrame) -> pd.Series:
    """Mean over a text's numbers of |2 F - 1|, F the share of real texts below it, half of those that are equal.

    0: all its numbers are medians of real text, 1: all are beyond any real text. NaN for a text without numbers.
    """
    found = {}
    for name in PER_TEXT:
        values, known = numbers[name].to_numpy(float), np.sort(real[name].dropna().to_numpy(float))
        below, within = (np.searchsorted(known, values, side=side) for side in ("left", "right"))
        share = (below + within) / (2 * max(1, len(known)))
        found[name] = np.where(np.isnan(values) | (len(known) == 0), np.nan, np.abs(2 * share - 1))
    return pd.DataFrame(found, numbers.index).mean(axis=1)


def repetitions(document: Document) -> Iterator[tuple[Place, int]]:
    """Places where words running stand that stood in the document before, and how many of them."""
    tokens = [
        (number, found.start(), found.end(), found.group().lower())
        for number, section in enumerate(document.sections)
        for found in _TOKEN.finditer(section.text)
    ]
    again, seen = np.zeros(len(tokens) + 1, dtype=bool), set()
    for start in range(len(tokens) - LENGTH + 1):
        words = tuple(token[3] for token in tokens[start : start + LENGTH])
        again[start : start + LENGTH] |= words in seen
        seen.add(words)
    edges = np.flatnonzero(np.diff(again.astype(np.int8), prepend=0))
    for first, end in edges.reshape(-1, 2).tolist():
        for section in sorted({token[0] for token in tokens[first:end]}):
            inside = [token for token in tokens[first:end] if token[0] == section]
            yield (section, inside[0][1], inside[-1][2]), end - first


def _repetitions(document: Document, often: float) -> list[tuple[Place, float, str]]:
    if not often > MORE_THAN:
        return []
    note = "{} words running that stand in the text before"
    return [(place, often, note.format(words)) for place, words in repetitions(document)]


def _numbers(latents: Path) -> pd.DataFrame:
    """The numbers of every text, by the id of its document."""
    table = pd.read_parquet(latents, columns=["id", *INTEGERS, *REALS])
    return per_text(table).set_index(table["id"])
