"""Evidence of the narrative critic: the doubtful places of a system's narratives, with their context."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.latents import stream_latents
from macroscope.critics.narrative.latents import LATENTS
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narratives import split_documents
from macroscope.documents import Collection, Document
from macroscope.files import atomic, write_json
from macroscope.tables import write_csv

PASSAGES = 6
SENTENCES_AROUND = 6
DOUBTFUL = 100
GAP = "▿"
"""Mark in a passage at which a sentence seems to be missing."""


def explain(
    texts: Collection, latents: Path, inference: Path, *, options: NarrativeOptions, language: str, output: Path
) -> None:
    """Write the evidence of a system: doubtful.csv and passages.json.

    doubtful.csv lists the places at or above the threshold, the most probable first, at most one per narrative and
    task: id, task, probability, before, after (the sentences around the gap, or the sentence and the one before it).
    passages.json has the narratives with the largest share of such places, as the report shows them.
    """
    points, segmenter = read_operating_points(inference), options.segmenter(language)
    rows, worst = [], []
    for table in stream_latents(latents, LATENTS):
        for row in table.to_pandas().to_dict("records"):
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
        rows = sorted(rows, key=lambda entry: -entry[2])[:DOUBTFUL]
        worst = sorted(worst, key=lambda entry: -entry[0])[:PASSAGES]
    ids = {row[0] for row in rows} | {entry[1] for entry in worst}
    chosen = (document for document in texts if document.id in ids)
    split = {document.id: (document, lines) for document, lines in split_documents(chosen, segmenter, False)}
    sentences = {name: lines for name, (_, lines) in split.items()}
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(_doubtful_table(rows, sentences), folder / "doubtful.csv")
        passages = [make_passage(*split[name], places, points) for _, name, places in worst]
        write_json(folder / "passages.json", passages)


def _doubtful_table(rows: Sequence[tuple[str, str, float, int]], sentences: dict[str, list[str]]) -> pd.DataFrame:
    table = []
    for name, task, probability, place in rows:
        first, second = (place, place + 1) if task == "missing" else (place - 1, place)
        before = sentences[name][first] if first >= 0 else ""
        table.append((name, task, probability, before, sentences[name][second]))
    return pd.DataFrame(table, columns=["id", "task", "probability", "before", "after"])


def make_passage(
    document: Document, sentences: list[str], places: dict[str, np.ndarray], points: dict[str, OperatingPoint]
) -> dict[str, Any]:
    """Return the part of a narrative around its most doubtful place, with all doubtful sentences and gaps marked.

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
        pieces.append(
            _marked_piece(sentences[number], "discordant", number, places, points) or _piece(sentences[number])
        )
        gap = _marked_piece(GAP, "missing", number, places, points)
        pieces += [_piece(" "), gap, _piece(" ")] if gap else [_piece(" ")]
    pieces += [_piece("…")] if last < len(sentences) else []
    return {"title": document.title or document.id, "pieces": pieces}


def _marked_piece(
    text: str, task: str, number: int, places: dict[str, np.ndarray], points: dict[str, OperatingPoint]
) -> dict[str, Any] | None:
    """Return a marked piece; None if the place is below the threshold."""
    probabilities = places.get(task, np.empty(0))
    if number >= len(probabilities) or probabilities[number] < points[task].threshold:
        return None
    message = "a sentence may be missing here" if task == "missing" else "may be out of place"
    return {
        "text": text,
        "group": 0 if task == "missing" else 1,
        "note": f"{message}: {probabilities[number]:.0%}",
        "marked": True,
        "numbered": False,
    }


def _piece(text: str) -> dict[str, Any]:
    return {"text": text, "group": None, "note": "", "marked": False}
