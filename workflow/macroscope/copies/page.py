"""The folder of `macroscope copies`: tables, and a reader that marks the spans."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.copies.comparison import EXCESS, MEASURES
from macroscope.copies.measure import Copies
from macroscope.copies.search import SPAN
from macroscope.critics.attributions import attribution_weight
from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, require_folder
from macroscope.options import CONTROL
from macroscope.phrases import format_count
from macroscope.reporting.reader.index import CriticScores, Index, PairedTexts
from macroscope.reporting.reader.writing import MarkedDocument, write_texts
from macroscope.reporting.reader.writing import write_page as write_reader_page
from macroscope.statistics.document_groups import KEYS
from macroscope.tables import write_csv

NAME, PAGE = "copies", "index.html"
TABLES = ("copies.csv", "texts.csv", "spans.csv")
_ABOUT = {
    "score": f"share of the text's sequences of {SPAN} words that stand in the searched texts",
    "unit": "",
    "marks": f"{SPAN} words or more that stand in the searched texts; passages common to many of them do not count",
    "quantities": {},
}


def make_summary(copies: Copies) -> pd.DataFrame:
    """Return the table for the user: a row per system and statistic, beside held-out real text."""
    table = copies.table.set_index(["system", "statistic"])
    rows = []
    for system in copies.documents:
        counts = copies.texts.loc[copies.texts["system"] == system, "copy"].value_counts()
        for name in MEASURES if system != CONTROL else ():
            value, excess, real = (
                table.loc[(system, name)],
                table.loc[(system, name + EXCESS)],
                table.loc[(CONTROL, name)],
            )
            rows.append(
                {
                    "system": system,
                    "statistic": name,
                    "value": value["value"],
                    "held-out": real["value"],
                    "difference": excess["value"],
                    "ci_low": excess["ci_low"],
                    "ci_high": excess["ci_high"],
                    "p_adjusted": excess["p_adjusted"],
                    "whole": int(counts.get("whole", 0)),
                    "half": int(counts.get("half", 0)),
                }
            )
    return pd.DataFrame(rows)


def require_replaceable_folder(folder: Path) -> None:
    """Check that a folder is absent, empty, or of this command.

    Raises
    ------
    MacroscopeError
        If it holds other files.
    """
    require_folder(folder)
    if folder.is_dir() and any(folder.iterdir()) and not all((folder / name).is_file() for name in (PAGE, *TABLES)):
        raise MacroscopeError(f"{folder}: holds other files; give another folder")


def write_page(copies: Copies, output: Path) -> None:
    """Write the tables and the reader into a folder, which replaces an earlier one."""
    keys = pd.DataFrame([(d.id, d.opening) for d in copies.documents[CONTROL]], columns=list(KEYS)).set_index(KEYS[0])
    control = copies.texts_of_control
    real = _scores(control)
    with atomic(output) as folder:
        folder.mkdir()
        for name, table in zip(TABLES, (copies.table, copies.texts, copies.spans), strict=True):
            write_csv(table, folder / name)
        systems = []
        for system, documents in copies.documents.items():
            is_control = system == CONTROL
            texts = control if is_control else copies.texts[copies.texts["system"] == system]
            spans = copies.spans_of_control if is_control else copies.spans[copies.spans["system"] == system]
            scores = CriticScores.compare(_scores(texts), real, is_control=is_control)
            index = Index({NAME: scores}, {NAME: {}}, PairedTexts(keys), {}, is_control)
            key = f"texts/{system}"
            write_texts(folder, key, _mark(documents, spans), index)
            about = {"key": key, "corpus": "texts", "system": system, "control": is_control, "page": None}
            systems.append({**about, "texts": len(documents), "critics": [NAME], "detectability": {}})
        write_reader_page(folder, NAME, {NAME: _ABOUT}, systems, (TABLES[0], "The table of the numbers"))


def _scores(texts: pd.DataFrame) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return texts[f"found_{SPAN}"].to_numpy(float) / texts[f"ngrams_{SPAN}"].to_numpy(float)


def _count_others(texts: int) -> str:
    return f" and {format_count(texts - 1, 'other text')}" if texts > 1 else ""


def _mark(documents: Sequence[Document], spans: pd.DataFrame) -> Iterator[MarkedDocument]:
    of_texts = {name: rows for name, rows in spans.groupby("id", sort=False)}
    for document in documents:
        rows = of_texts.get(document.id)
        marks = (
            []
            if rows is None
            else [
                {
                    **{name: getattr(row, name) for name in ("section", "start", "end")},
                    "weight": attribution_weight(row.words, SPAN),
                    "note": f"{format_count(row.words, 'word')}, as in {row.source}{_count_others(row.texts)}"
                    f"{'; common, does not count' if row.common else ''}",
                }
                for row in rows.itertuples(index=False)
            ]
        )
        yield document, {NAME: marks} if marks else {}
