"""Share of questions: projection and report."""

import re
from pathlib import Path

import pandas as pd

from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.numeric_latents import numbers_table
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope_questions.options import QuestionsOptions


def project(texts: Collection, *, options: QuestionsOptions, output: Path) -> None:
    """Write the share of questions of every text, in [0, 1]; NaN for a text that ends no sentence."""
    ends = re.compile(f"[.!{re.escape(options.marks)}]")
    rows = []
    for document in texts:
        marks = ends.findall(document.text)
        questions = sum(mark in options.marks for mark in marks)
        rows.append((document.id, document.opening, questions / len(marks) if marks else float("nan")))
    with atomic(output) as temporary:
        table = pd.DataFrame(rows, columns=["id", "opening", "questions"])
        table.astype({"id": str, "opening": str, "questions": float}).to_parquet(temporary, index=False)


def items(findings: Findings) -> list[ReportItem]:
    """List what the report shows."""
    table = numbers_table(findings, {"questions": "questions, share of sentences"})
    return [ReportItem("questions", "How often the texts ask", table)]
