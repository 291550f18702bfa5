"""The doubtful places of a system's narratives, with the text around them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.narrative.latents import read_latents
from macroscope.critics.narrative.narratives import sentences_of
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.documents import Document, read_documents
from macroscope.files import atomic, write_json
from macroscope.tables import write_csv

PASSAGES = 6
SENTENCES_AROUND = 6
DOUBTFUL = 100
GAP = "▿"
"""Stands in a passage where a sentence seems to be missing."""


def explain(texts: Path, latents: Path, inference: Path, *, language: str, output: Path) -> None:
    """Write the evidence of a system: doubtful.csv and passages.json.

    doubtful.csv has the places from the threshold on, the surest first, at most one a narrative and task: id, task,
    probability, before, after (the sentences that it is between, or the sentence and the one before it). passages.json
    has the narratives with most of them a place, as the report shows them.
    """
    points = read_operating_points(inference)
    rows, worst = [], []
    for table in read_latents(latents):
        for row in table.to_dict("records"):
            places = {task: np.asarray(row[task], dtype=float) for task in points}
            marked = sum(int((p >= points[task].threshold).sum()) for task, p in places.items())
            total = sum(map(len, places.values()))
            if marked:
                worst.append((marked / total, row["id"], places))
                rows += [
                    (row["id"], task, float(p.max()), int(p.argmax()))
                    for task, p in places.items()
                    if len(p) and p.max() >= points[task].threshold
                ]
        rows = sorted(rows, key=lambda some: -some[2])[:DOUBTFUL]
        worst = sorted(worst, key=lambda some: -some[0])[:PASSAGES]
    wanted = {row[0] for row in rows} | {some[1] for some in worst}
    told = {document.id: document for document in read_documents(texts) if document.id in wanted}
    sentences = {name: sentences_of(document, language, known=False) for name, document in told.items()}
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(_doubtful(rows, sentences), folder / "doubtful.csv")
        shown = [passage(told[name], sentences[name], places, points) for _, name, places in worst]
        write_json(folder / "passages.json", shown)


def _doubtful(rows: Sequence[tuple[str, str, float, int]], sentences: dict[str, list[str]]) -> pd.DataFrame:
    found = []
    for name, task, probability, place in rows:
        first, second = (place, place + 1) if task == "missing" else (place - 1, place)
        before = sentences[name][first] if first >= 0 else ""
        found.append((name, task, probability, before, sentences[name][second]))
    return pd.DataFrame(found, columns=["id", "task", "probability", "before", "after"])


def passage(
    document: Document, sentences: list[str], places: dict[str, np.ndarray], points: dict[str, OperatingPoint]
) -> dict[str, Any]:
    """A part of a narrative around its most doubtful place, with all doubtful sentences and gaps marked.

    Returns
    -------
    dict
        title; pieces, each {text, group, note, marked}; see `ReportItem.passages`.
    """
    excess = {task: p - points[task].threshold for task, p in places.items() if len(p)}
    centre = int(max(excess.values(), key=np.max).argmax())
    first = max(0, centre - SENTENCES_AROUND)
    last = min(len(sentences), centre + SENTENCES_AROUND + 2)
    pieces: list[dict[str, Any]] = [_piece("… ")] if first else []
    for number in range(first, last):
        pieces.append(_marked(sentences[number], "discordant", number, places, points) or _piece(sentences[number]))
        gap = _marked(GAP, "missing", number, places, points)
        pieces += [_piece(" "), gap, _piece(" ")] if gap else [_piece(" ")]
    pieces += [_piece("…")] if last < len(sentences) else []
    return {"title": document.title or document.id, "pieces": pieces}


def _marked(
    text: str, task: str, number: int, places: dict[str, np.ndarray], points: dict[str, OperatingPoint]
) -> dict[str, Any] | None:
    """A piece that stands out; None where nothing is found there."""
    found = places.get(task, np.empty(0))
    if number >= len(found) or found[number] < points[task].threshold:
        return None
    what = "a sentence may be missing here" if task == "missing" else "may be out of place"
    return {
        "text": text,
        "group": 0 if task == "missing" else 1,
        "note": f"{what}: {found[number]:.0%}",
        "marked": True,
        "numbered": False,
    }


def _piece(text: str) -> dict[str, Any]:
    return {"text": text, "group": None, "note": "", "marked": False}
