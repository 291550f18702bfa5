"""Share of questions: projection and report."""

import re
from pathlib import Path

import pyarrow as pa

from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.latents import key_columns, latents_schema, write_latents
from macroscope.critics.numeric_latents import numbers_table
from macroscope.documents import Collection, Document
from macroscope_questions.options import QuestionsOptions

LATENTS = latents_schema(pa.field("questions", pa.float64()))


def project(texts: Collection, *, options: QuestionsOptions, signature: str, output: Path) -> None:
    """Write the share of questions of every text, in [0, 1]; NaN for a text that ends no sentence."""
    tables = (tabulate_shares(batch, options.marks) for batch in texts.batches())
    write_latents(output, LATENTS, tables, signature)


def tabulate_shares(documents: list[Document], marks: str) -> pa.Table:
    """Return the latents of a batch of documents."""
    ends = re.compile(f"[.!{re.escape(marks)}]")
    shares = []
    for document in documents:
        found_marks = ends.findall(document.text)
        questions = sum(mark in marks for mark in found_marks)
        shares.append(questions / len(found_marks) if found_marks else float("nan"))
    return pa.table([*key_columns(documents), pa.array(shares, pa.float64())], schema=LATENTS)


def items(findings: Findings) -> list[ReportItem]:
    """List what the report shows."""
    table = numbers_table(findings, {"questions": "questions, share of sentences"})
    return [ReportItem("questions", "How often the texts ask", table)]
